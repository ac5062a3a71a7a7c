"""An answer nested more deeply than any reader can follow, and one that contains itself."""


def run_code():
    answer = []
    answer.append(answer)
    return answer
