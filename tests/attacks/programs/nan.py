"""NaN passes every comparison that is written the wrong way round."""


def run_code():
    return [float("nan")] * 4
