"""Numbers outside the bounds that would add up well."""


def run_code():
    return [-1.0, 2.0, 2.0, 1.0]
