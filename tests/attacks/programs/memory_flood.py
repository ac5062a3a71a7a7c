"""Takes memory until there is none."""


def run_code():
    hoard = []
    while True:
        hoard.append(b"x" * (16 << 20))
