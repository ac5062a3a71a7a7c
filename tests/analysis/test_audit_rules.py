"""The audit's pure rules on plain texts: numbers, lines, network use, queries, terms, fields."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.auditing.copies import (
    PageText,
    added_lines,
    copied_lines,
    new_numbers,
    numeric_copy,
)
from analysis.auditing.fields import field_of, foreign_field
from analysis.auditing.network import network_calls
from analysis.auditing.numbers import Number, numbers_in, same, telling
from analysis.auditing.queries import asks_for_documentation, identifiers, query_class
from analysis.auditing.terms import DocumentTerms, distinctive, new_terms, terms_of_code


def one(text: str) -> Number:
    (number,) = numbers_in(text)
    return number


# --- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "digits"),
    [("0.00012345", 5), ("1.2345e-7", 5), ("12345", 5), ("1000.0", 1), ("0.50000", 1),
     ("123400", 4), ("1_234_567", 7), ("0.82", 2), ("3.14159265", 9), ("0", 0), ("1.2345f", 5),
     ("98765u64", 5), ("2.5e10", 2), (".43215", 5), ("-0.43215", 5)],
)  # fmt: skip
def test_significant_digits(text: str, digits: int) -> None:
    assert one(text).digits == digits


@pytest.mark.parametrize(
    "text",
    ["x12345", "v1.2.34567", "a_12345", "3.11.12345", "0x1F2E3D", "12345abc", "deadbeef99"],
)
def test_parts_of_names_are_no_numbers(text: str) -> None:
    assert telling(text) == {}


@pytest.mark.parametrize(
    ("one_text", "other_text", "equal"),
    [
        ("0.123456789", "0.123456789", True),
        ("0.123456789", "0.12346", True),
        ("0.12346", "0.123456789", True),
        ("0.123456789", "0.12345", False),  # cut, not rounded
        ("0.12345", "0.12346", False),
        ("1.2345e-3", "0.0012345", True),
        ("15186.2", "15186", True),
        ("15186.5", "15186", True),  # half to even
        ("15186.5", "15187", True),  # half up
        ("15186.51", "15186", False),
        ("0.3808703105862199", "0.380870", True),
        ("2.6358627564136983", "2.635863", True),
    ],
)
def test_numbers_agree_at_the_shorter_precision(
    one_text: str, other_text: str, equal: bool
) -> None:
    assert same(one(one_text), one(other_text)) is equal
    assert same(one(other_text), one(one_text)) is equal


def test_thousands_are_read_both_ways() -> None:
    values = {str(n.value) for n in numbers_in("15,186 SWAPs")}
    assert values == {"15", "186", "15186"}
    assert {str(n.value) for n in numbers_in("1,234,567.5")} >= {"1234567.5"}
    assert "1234" not in {str(n.value) for n in numbers_in("[1,2,3,4]")}


def test_three_numbers_on_one_page_are_a_copy() -> None:
    page = PageText("https://a.org", "radii 0.0921463, 0.1034217 and 0.0784512 were found")
    code = "r = [0.0921463, 0.1034217, 0.0784512]\n"
    found = numeric_copy(new_numbers(code.splitlines(), ""), [page])
    assert found is not None
    assert found.url == "https://a.org"
    assert len(found.pairs) == 3
    assert "3 of 3 new numbers are among the 3 numbers of https://a.org" in found.evidence


@pytest.mark.parametrize(
    "code",
    [
        "r = [0.0921463, 0.1034217]\n",  # two
        "r = [0.0921463, 0.1034217, 0.0784999]\n",  # the third is another
        "r = [0.092, 0.103, 0.078]\n",  # too few digits
        "r = [0.0921463, 0.09214630, 0.092146, 0.0921463001]\n",  # one number of the page
        "r = [1000.0, 20000, 0.50000, 3000.0]\n",  # round numbers
    ],
)
def test_fewer_or_other_numbers_are_none(code: str) -> None:
    page = PageText("u", "0.0921463 0.1034217 0.0784512 1000.0 20000 0.50000 3000.0")
    assert numeric_copy(new_numbers(code.splitlines(), ""), [page]) is None


def test_numbers_must_stand_on_one_page() -> None:
    pages = [PageText("u", "0.0921463 0.1034217"), PageText("v", "0.0784512")]
    numbers = new_numbers(["r = [0.0921463, 0.1034217, 0.0784512]"], "")
    assert numeric_copy(numbers, pages) is None


def test_numbers_of_the_parent_are_not_new() -> None:
    parent = "old = [0.0921463, 0.1034217]\n"
    line = "new = [0.0921463, 0.1034217, 0.0784512]"
    assert [n.text for n in new_numbers([line], parent)] == ["0.0784512"]


def test_longer_numbers_match_a_rounded_page_and_a_shorter_program() -> None:
    page = PageText("u", "x = 0.092146, y = 0.1034217839, z = 0.0784512")
    numbers = new_numbers(["p = (0.0921463, 0.10342, 0.0784512)"], "")
    found = numeric_copy(numbers, [page])
    assert found is not None
    assert "0.0921463 (there 0.092146)" in found.evidence


def test_hostile_numbers_are_quick() -> None:
    began = time.perf_counter()
    assert telling("1" * 2_000_000) == {}
    assert telling("1." * 200_000) == {}
    assert telling("1_" * 200_000 + "x") == {}
    assert telling("1.5e999999999, 2.5e-9999 7.12345e9999") == {}
    telling("1,234," * 100_000)
    assert time.perf_counter() - began < 20


# --- lines ---------------------------------------------------------------------------------------


def test_copied_lines_need_twenty_characters_besides_space() -> None:
    telling_line = "x" * 20
    short_line = "y" * 19
    page = PageText("u", f"a\n  {telling_line}\n{short_line}\n")
    assert copied_lines([telling_line, short_line], [page]) == {telling_line: "u"}
    spaced = "a b c d e f g h i j k l m n o p q r s"  # 19 letters on 37 columns
    assert copied_lines([spaced], [PageText("u", spaced)]) == {}
    assert copied_lines([spaced + " t"], [PageText("u", spaced + " t")]) == {spaced + " t": "u"}


def test_only_added_lines_count_and_indentation_does_not() -> None:
    parent = "def f():\n    return compute_everything(1, 2, 3)\n"
    child = (
        "if True:\n        return compute_everything(1, 2, 3)\n    y = another_long_line(4, 5, 6)\n"
    )
    added = added_lines(child, parent)
    assert added == ["if True:", "    y = another_long_line(4, 5, 6)"]
    page = PageText("u", "return compute_everything(1, 2, 3)\ny = another_long_line(4, 5, 6)")
    assert copied_lines(added, [page]) == {"y = another_long_line(4, 5, 6)": "u"}


def test_part_of_a_line_is_no_copy() -> None:
    line = "value = minimise(objective, start)"
    assert copied_lines([line], [PageText("u", f"see {line}")]) == {}


# --- network -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import requests\n", ["line 1: import requests"]),
        ("x = 1\nfrom urllib.request import urlopen\n",
         ["line 2: from urllib.request import urlopen"]),
        ("from urllib import request\n", ["line 1: from urllib import request"]),
        ("import http.client as h\n", ["line 1: import http.client"]),
        ("from http import client\n", ["line 1: from http import client"]),
        ("import os\nos.system('curl -O http://a')\n", ["line 2: os.system with curl"]),
        ("import subprocess as sp\nsp.run(['git', 'clone', 'x'])\n",
         ["line 2: subprocess.run with git"]),
        ("from subprocess import check_output\ncheck_output('wget x', shell=True)\n",
         ["line 1: subprocess.check_output with wget"]),
        ("cmd = 'curl http://a'\nimport os\nos.system(cmd)\n", ["line 3: os.system with curl"]),
        ("m = __import__('socket')\n", ["line 1: __import__('socket')"]),
        ("import os\nos.system('cu' 'rl x')\n", ["line 2: os.system with curl"]),
        ("import os\nos.system('\\x63url x')\n", ["line 2: os.system with curl"]),
        ("import \uff52equests\n", ["line 1: import requests"]),
        ("import importlib\nimportlib.import_module('httpx')\n",
         ["line 2: importlib.import_module('httpx')"]),
    ],
)  # fmt: skip
def test_python_network_use(code: str, expected: list[str]) -> None:
    found = network_calls(code, "python")
    assert [f.partition(": ")[2] for f in found] == [e.partition(": ")[2] for e in expected]


@pytest.mark.parametrize(
    "code",
    [
        "from urllib.parse import quote\nimport urllib.error\n",
        "# import requests\ntext = 'import socket'\n",
        "import subprocess\nsubprocess.run(['digit', 'curling'])\n",
        "requests = [1]\nrequests.append(2)\n",
        "from .socket import thing\n",
        "import socketserver_like\n",
        "from http import HTTPStatus\n",
        "import os\nos.system('ls')\n",
    ],
)
def test_python_false_positives(code: str) -> None:
    assert network_calls(code, "python") == []


def test_programs_that_do_not_parse_are_searched_by_pattern() -> None:
    code = (
        "def f(:\n  import requests\nos.system('curl http://x')\nfrom urllib.parse import quote\n"
    )
    assert network_calls(code, "python") == [
        "line 2: import requests",
        "line 3: os.system('curl http://x')",
    ]


def test_compiled_languages_are_searched_by_pattern() -> None:
    code = (
        '// system("x")\n/* popen( */ int a;\nint r = system(cmd);\nFILE* f = popen (c, m);\n'
        'const char* s = "// not a comment"; int q = socket(1, 2, 3);\necosystem(1);\n'
        "file_system(2);\n"
    )
    assert network_calls(code, "cpp") == [
        "line 3: system(",
        "line 4: popen (",
        "line 5: socket(",
    ]
    assert network_calls("use reqwest::blocking;\n", "rust") == ["line 1: reqwest"]
    assert network_calls('let x: &\'a str = "a"; // popen(\n', "rust") == []


@pytest.mark.parametrize(
    "code",
    [
        "(" * 100_000,
        "x = " + "-" * 200_000 + "1",
        "x = " + "+".join(["1"] * 100_000),
        "a" + ".b" * 100_000,
        "x = '\0'",
        "if 1:\n" * 3000,
        "x = [" + "1," * 300_000 + "]",
        "\ud800",
        "f(" * 90 + ")" * 90,
        "lambda: " * 50_000 + "1",
        "{" * 5000,
        'f"{' * 200,
        "\n" * 200_000 + "(requests",
        "/* " * 100_000,
        '"' + '\\"' * 100_000,
    ],
    ids=range(15),
)
def test_hostile_programs_do_not_break_the_search(code: str) -> None:
    began = time.perf_counter()
    for language in ("python", "cpp", "rust"):
        assert network_calls(code, language) == []
    assert time.perf_counter() - began < 20


def test_deep_calls_cost_no_more_than_their_length() -> None:
    code = "import os\nx = '" + "curl " * 1000 + "'\n" + "os.system(x)\n" * 2000
    began = time.perf_counter()
    assert len(network_calls(code, "python")) == 2000
    assert time.perf_counter() - began < 20


# --- queries -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("best known circle packing n=26", "known_result"),
        ("Erdos minimum overlap upper bound", "known_result"),
        ("state-of-the-art method for routing", "known_result"),  # first match wins
        ("AHC039 leaderboard", "known_result"),
        ("score 0.3809 erdos", "known_result"),
        ("record 2.635 sum of radii", "known_result"),
        ("AHC039 purse seine", "problem_statement"),
        ("AtCoder Heuristic Contest 39 fishing", "problem_statement"),
        ("contest rules of fishing task with algorithm", "problem_statement"),
        ("simulated annealing algorithm polygon", "method"),
        ("scipy optimise SLSQP", "method"),
        ("how to vectorise a loop", "method"),
        ("basin hopping", "other"),
        ("schedules of trains", "other"),
        ("decoding of recorded speech", "other"),
    ],
)
def test_query_classes(text: str, expected: str) -> None:
    assert query_class(text) == expected


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("qiskit SabreLayout API", "API"),
        ("scipy minimize parameters documentation", "parameters"),
        ("rustworkx release notes", "release notes"),
        ("qiskit PR #14021 sabre heuristic", "PR #14021"),
        ("issue 9012 qiskit", "issue 9012"),
        ("best known score API", ""),  # asks for a known result
        ("official API of AHC039", ""),  # asks for the problem
        ("conversion of therapies", ""),
        ("simulated annealing algorithm", ""),
    ],
)
def test_live_documentation_lookups(text: str, asked: str) -> None:
    assert asks_for_documentation(text) == asked


def test_identifiers_of_queries() -> None:
    assert identifiers("qiskit PR #14021 and issue 14021, pull request 999") == {"#14021", "#999"}
    assert identifiers("arXiv 2401.01234v2 and 2401.1234") == {
        "arXiv 2401.01234",
        "arXiv 2401.1234",
    }
    assert identifiers("#12 expr 12345 PR 1234567 version 12.3") == set()


# --- terms and fields ----------------------------------------------------------------------------


def test_terms_of_added_code() -> None:
    terms = terms_of_code(["# Simulated annealing with reheats", "x = basinhopping(f, y)"])
    assert "simulated annealing" in terms
    assert "basinhopping" in terms
    assert terms_of_code(["for i in range(10): print(len(x))", "x = x + 1"]) == []


def test_names_and_plurals_meet_phrases() -> None:
    document = DocumentTerms("Voronoi cells are relaxed; we use sequential quadratic programming.")
    assert "voronoi cell" in document
    assert "sequential quadratic" in terms_of_code(["def sequential_quadratic_step(x):"])
    assert "cell relaxed" not in document  # another word stands between
    assert "relaxed we" not in document


def test_new_terms_are_not_in_the_parent() -> None:
    added = ["result = basin_hopping(x)  # tabu search"]
    assert "tabu search" in new_terms(added, "x = 1")
    assert "tabu search" not in new_terms(added, "# a tabu search")


def test_distinctive_terms_are_rare_in_the_run() -> None:
    documents = [DocumentTerms("tabu search")] * 3 + [DocumentTerms("lattice sieve")] * 2
    documents += [DocumentTerms("nothing of note")] * 5
    assert distinctive(["tabu search", "lattice sieve"], documents) == ["lattice sieve"]
    assert distinctive(["tabu search"], [DocumentTerms("tabu search")]) == ["tabu search"]


def test_fields_by_host_and_terms() -> None:
    assert field_of("www.biorxiv.org", "", "") == "biology"
    assert field_of("docs.quantum.ibm.com", "", "") == "quantum computing"
    assert field_of("x.org", "Radar sidelobe suppression", "antenna arrays") == "signal processing"
    assert field_of("github.com", "A library", "pip install it") == ""
    assert field_of("x.org", "", "a gene") == ""  # one mention is too little
    assert field_of("x.org", "theorem and qubit", "lemma qubits") == ""  # two fields tie
    assert foreign_field("mathematics", "oeis.org", "", "") == ""
    assert foreign_field("mathematics", "rdkit.org", "", "") == "chemistry"
    assert foreign_field("", "rdkit.org", "", "") == ""


# --- any text ------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(st.text(), st.sampled_from(["python", "cpp", "rust"]))
def test_any_text_can_be_audited(text: str, language: str) -> None:
    for code in (text, f"import requests\n{text}"):
        assert isinstance(network_calls(code, language), list)
        page = PageText("u", code)
        assert numeric_copy(new_numbers(code.splitlines(), ""), [page]) is None or len(page.numbers)
        assert all(term in DocumentTerms(code) for term in terms_of_code(code.splitlines()[:5]))
        query_class(code), identifiers(code), asks_for_documentation(code)


@settings(max_examples=100, deadline=None)
@given(st.floats(min_value=1e-12, max_value=1e12), st.integers(5, 16))
def test_every_number_equals_its_own_rounding(value: float, digits: int) -> None:
    full, short = one(repr(value)), one(f"{value:.{digits - 1}e}")
    if short.unit > full.unit:
        assert same(full, short)
