# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Finds the codes in a text, by name, by the libraries' text, or by number; and the causes that fit it best.

Place: part of explain.py. Contract: any text gives some answer, which may be empty. A cause fits by the codes and calls that
it shares with the text. A text without either is a question in words; see `share`.
"""

import ctypes
import math
import os
import re
from typing import List, Optional, Set, Tuple

from causes import Cause, Code, causes, codes, errnos, plain, words

CAUSES, CODES, PHRASES = causes(), [*codes(), *errnos()], words()
MOST_CODES = 12
FOR_A_CODE, FOR_A_CALL, FOR_A_WORD = 10, 6, 7
EVENT_STATUS = ("status", "error", "reason")
ERRNO_BEHIND = ("errno", "error", "failed", "with", "returned", "returns", "ret", "rc", "code")
OF_COMPLETIONS = ("completion", "wr_id", "wc", "cq", "failed status")
# Adapters of one maker report these beside the status; few are documented.
VENDOR_ERROR = ("vendor err", "vendor_err", "vend", "syndrom", "vendor syndrome")
# libmlx5 prints a completion in error as 16 words; the third last has both syndromes, as its sources define them.
DUMP, SYNDROME_AT = " got completion with error", 13
SYNDROMES = {
    0x01: "LOC_LEN_ERR", 0x02: "LOC_QP_OP_ERR", 0x04: "LOC_PROT_ERR", 0x05: "WR_FLUSH_ERR", 0x06: "MW_BIND_ERR",
    0x10: "BAD_RESP_ERR", 0x11: "LOC_ACCESS_ERR", 0x12: "REM_INV_REQ_ERR", 0x13: "REM_ACCESS_ERR", 0x14: "REM_OP_ERR",
    0x15: "RETRY_EXC_ERR", 0x16: "RNR_RETRY_EXC_ERR", 0x22: "REM_ABORT_ERR",
}  # fmt: skip
CALL = re.compile(r" (?:ibv_(?!wc_|event_)|rdma_(?!cm_event))")
# Words of English that say how others are related, and nothing by themselves.
FUNCTION_WORDS = set(
    "a about after all am an and any are as at be because been before but by can cannot could did do does done for from get gets "
    "had has have he her his how i if in into is isn it its just me my no not of off on only or our out over she should so some "
    "than that the their them then there they this to too under until up us very was we were what when where which while who why "
    "will with without won would you your".split()
)
MOST_OF_IT = 2 / 3  # the part of a question that an answer has to account for


def _library() -> Optional[ctypes.CDLL]:
    try:
        return ctypes.CDLL("libibverbs.so.1")
    except OSError:
        return None


LIBRARY = _library()


def text_of(code: Code) -> str:
    """Returns the C library's, or libibverbs', text for a code; or empty."""
    if code.kind == "ERRNO":
        return os.strerror(code.value)
    name = {"WC": "ibv_wc_status_str", "ASYNC": "ibv_event_type_str"}.get(code.kind)
    if not LIBRARY or not name:
        return ""
    function = getattr(LIBRARY, name)
    function.restype = ctypes.c_char_p
    return str(function(code.value).decode())


def simple(text: str) -> str:
    """Returns the text in small letters, with a blank before each word or number, and after the last."""
    return "".join(f" {word}" for word in re.findall(r"(?:(?<![a-z0-9_])-(?=\d))?[a-z0-9_]+", text.lower())) + " "


TEXTS = {code: simple(text_of(code)) for code in CODES if code.full != "IBV_WC_SUCCESS"}


def code_of(kind: str, value: Optional[int]) -> Optional[Code]:
    """Returns the code of this kind with this value."""
    return next((code for code in CODES if (code.kind, code.value) == (kind, value)), None)


def status_of(name: str) -> Code:
    """Returns the completion status with this name."""
    return next(code for code in CODES if (code.kind, code.name) == ("WC", name))


class Found:
    """The codes that a text names."""

    def __init__(self, text: str) -> None:
        """Looks for them."""
        self.raw, self.text = text, simple(text)
        self.codes: List[Code] = []
        self.bare = False  # the text is a number: each of `codes` is another meaning
        if self._find_bare_number():
            return
        self._find_names()
        self._find_vendor_error()
        self._find_dump()
        named = [*self.codes]
        for code in named:
            if code.kind == "CM":
                self._find_event_status(code)
        if not named:
            self._find_status()
        if not self.codes:
            self._find_errno()

    def has(self, phrase: str, whole: bool = False) -> bool:
        """Returns whether the text has a phrase that begins where a word begins; with `whole`, ends where one ends, too."""
        wanted = simple(phrase)
        return wanted != " " and (wanted if whole else wanted[:-1]) in self.text

    def _number_behind(self, word: str) -> Optional[int]:
        at = self.text.find(simple(word))
        match = re.match(r"(-?)(0x[0-9a-f]+|\d+) ", self.text[at + len(simple(word)) :]) if at >= 0 else None
        return int(match[1] + match[2], 16 if "x" in match[2] else 10) if match else None

    def _add(self, code: Optional[Code]) -> None:
        if code and code not in self.codes and len(self.codes) < MOST_CODES:
            self.codes.append(code)

    def _is_named(self, code: Code) -> bool:
        """Returns whether the text names a code: IBV_WC_X may be X, too, and verbs-trace writes RDMA_CM_EVENT_X as X, in capitals."""
        if code.kind == "REASON":
            return False
        if self.has(code.full, whole=True):
            return True
        if code.kind == "ERRNO" or code.name == "SUCCESS":
            return False
        if "_" in code.name or self.raw.lower() == code.name.lower():
            return self.has(code.name, whole=True)
        return bool(re.search(rf"(?<![A-Za-z0-9_]){code.name}(?![A-Za-z0-9])", self.raw))

    def _find_names(self) -> None:
        for code in CODES:
            if self._is_named(code) or TEXTS.get(code, " ") != " " and TEXTS[code] in self.text:
                self._add(code)
        for phrase, status in PHRASES.items():
            if self.has(phrase, whole=True):  # "rnr", but not "rnr_retry_count"
                self._add(status_of(status))

    def _find_event_status(self, event: Code) -> None:
        """Finds a reason, which says more than the event, or a negative errno value."""
        number = next((n for word in (event.full, *EVENT_STATUS) for n in [self._number_behind(word)] if n is not None), None)
        reason = code_of("REASON", number) if event.name == "REJECTED" else None
        if reason:
            self.codes = [*dict.fromkeys(reason if code.kind == "CM" else code for code in self.codes)]
        elif number is not None and number < 0:
            self._add(code_of("ERRNO", -number))

    def _find_vendor_error(self) -> None:
        for word in VENDOR_ERROR:
            status = PHRASES.get(f"vendor err {self._number_behind(word)}")
            self._add(status_of(status) if status else None)

    def _find_dump(self) -> None:
        dump = re.match(r"(?: [0-9a-f]{1,8}\b)+", self.text.partition(DUMP)[2])
        numbers = [int(word, 16) for word in dump[0].split()] if dump else []
        if len(numbers) > SYNDROME_AT and numbers[SYNDROME_AT] & 0xFF in SYNDROMES:
            self._add(status_of(SYNDROMES[numbers[SYNDROME_AT] & 0xFF]))

    def _find_bare_number(self) -> bool:
        number = self._number_behind("") if len(self.text.split()) == 1 else None
        if number is None or abs(number) > 200:
            return False
        for code in (code_of("WC", number), code_of("ERRNO", abs(number)), code_of("REASON", number)):
            self._add(code)
        self.bare = True
        return True

    def _find_status(self) -> None:
        """Finds a "status 12", unless it may be a program's."""
        status = self._number_behind("status")
        if status and status > 0 and (self.text.startswith(" status ") or any(self.has(word) for word in OF_COMPLETIONS)):
            self._add(code_of("WC", status))

    def _find_errno(self) -> None:
        for word in ERRNO_BEHIND:
            number = self._number_behind(word)
            if number not in (None, -1, 0):
                self._add(code_of("ERRNO", abs(number or 0)))


def items(cause: Cause, name: str) -> List[str]:
    """Returns the items of a list in a cause."""
    return [item for item in re.split(" " if name == "calls" else "; ", cause.texts[name]) if item]


def score(cause: Cause, found: Found, named: List[Code]) -> float:
    """Scores a cause by codes, calls and phrases: 0 if it has calls, but not the failed one."""
    full = [code.full for code in named]
    shared = sum(code in full for code in items(cause, "codes"))
    called = sum(found.has(call) for call in items(cause, "calls"))
    said = sum(found.has(phrase) for phrase in items(cause, "words"))
    if (named and not shared and not said) or (cause.texts["calls"] and not called and not said and CALL.search(found.text)):
        return 0
    return FOR_A_CODE * shared + FOR_A_CALL * called + FOR_A_WORD * said


# ---- Questions in words ----


def stems(text: str) -> Set[str]:
    """Returns the significant words, without the endings of English; no numbers."""
    found = {word for word in simple(text).split() if not re.match(r"-?\d", word)} - FUNCTION_WORDS
    return {re.sub(r"(?:ing|ed|es|s|e)$", "", word) if len(word) > 4 else word for word in found}


def said(cause: Cause) -> Set[str]:
    """Returns all texts of a cause: title, reason, search words, and output of programs."""
    texts = [cause.texts[name] for name in ("title", "about", "words", "calls", "codes")]
    return stems(plain(" ".join([*texts, *cause.shows])))


SAYS = {cause.name: said(cause) for cause in CAUSES}


def weight(word: str) -> float:
    """Returns the weight of a word: the more causes have it, the less; most if none has it."""
    return math.log((1 + len(SAYS)) / (0.5 + sum(word in one for one in SAYS.values())))


def share(cause: Cause, asked: Set[str]) -> float:
    """Returns how much of a question the words of a cause account for, from 0 to 1."""
    whole = sum(weight(word) for word in asked)
    return sum(weight(word) for word in asked & SAYS[cause.name]) / whole if whole else 0.0


def rank(found: Found, code: Optional[Code] = None) -> List[Tuple[Cause, float]]:
    """Returns the causes of the found codes, or of `code` alone if given, with their scores, the likeliest first."""
    named = [code] if code else found.codes
    if named or CALL.search(found.text):
        scores = [(cause, score(cause, found, named)) for cause in CAUSES]
    else:
        asked = stems(found.raw)
        scores = [(cause, share(cause, asked)) for cause in CAUSES]
        exact = [phrase for cause in CAUSES for phrase in items(cause, "words") if " " in phrase and found.has(phrase)]
        scores = [(c, s + sum(p in items(c, "words") for p in exact)) for c, s in scores]
        scores = [(c, s if s >= MOST_OF_IT else 0) for c, s in scores]
    return sorted(((cause, number) for cause, number in scores if number), key=lambda pair: -pair[1])
