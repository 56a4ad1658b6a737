"""Recorded pages: the numbers behind every kind of page and the words on it, not its markup."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser

import steelyard
from recorded import inputs as i
from recorded import models, questions
from recorded.values import leaves_of, plain, shortened, summed_up
from steelyard import compare, evaluate

FEW = ["recall", "precision", "f1", "mcc", "roc_auc"]
MOST_SHOWN, FIRST_WORDS = 200, 20
EMPTY = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}


class Words(HTMLParser):
    """The words of a page by the kind of element, without its styles and scripts."""

    def __init__(self, html):
        super().__init__()
        self.words, self.headings, self.tags, self.inside = [], [], {}, []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if tag not in EMPTY:
            self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        text = " ".join(data.split())
        if text and not {"style", "script"} & set(self.inside):
            heading = {"title", "h1", "h2", "h3", "h4", "caption"} & set(self.inside)
            (self.headings if heading else self.words).append(plain(text))


def page_content(html):
    """The headings, the words, the counts of elements and the numbers of a page."""
    found = Words(html)
    shown = {
        tag: found.tags[tag] for tag in ("table", "tr", "svg", "details", "figure", "section") if tag in found.tags
    }
    words = found.words if len(found.words) <= FIRST_WORDS else shortened(found.words, found.words, FIRST_WORDS)
    return {"headings": found.headings, "words": words, "elements": shown, "data": data_of(html)}


def data_of(html):
    """The numbers that the scripts of a page read, by their keys; long parts are summed up."""
    packed = re.search(r'<script type="text/plain" id="data">(.*?)</script>', html, re.DOTALL)
    return None if packed is None else brief(plain(json.loads(zlib.decompress(base64.b64decode(packed[1])))), 2)


def brief(data, deep):
    """JSON by its keys to some depth; what is long below is summed up."""
    found = summed_up(data)
    if len(json.dumps(found)) <= MOST_SHOWN:
        return found
    if isinstance(data, dict) and deep:
        return {key: brief(each, deep - 1) for key, each in data.items()}
    return shortened(data if isinstance(data, list) else [data], list(leaves_of(data)), 0)


def of_page(make):
    """The content of the page that a call makes."""
    return lambda: page_content(make())


PAGES = {
    "page-evaluation": {
        "labels": lambda: evaluate(i.Y, i.P).to_html(source="rows.csv"),
        "scores": lambda: evaluate(i.Y, y_score=i.S).to_html(),
        "scores without a threshold": lambda: evaluate(i.Y, y_score=10 * i.S).to_html(),
        "weighted scores with groups": lambda: evaluate(i.Y, y_score=i.S, sample_weight=i.W, by=i.SITE, metrics=FEW).to_html(),
        "counts": lambda: evaluate(i.COUNTS).to_html(),
        "clusters": lambda: evaluate(i.Y, y_score=i.S, cluster=i.PATIENT, metrics=FEW).to_html(),
        "at a prevalence": lambda: evaluate(i.Y, y_score=i.S, prevalence=0.05, metrics=FEW).to_html(),
        "errors": lambda: evaluate(i.Y, y_score=i.S, metrics=FEW).to_html(errors=steelyard.errors(i.Y, y_score=i.S)),
        "label plan": lambda: evaluate(i.PLANNED, design=i.PLAN, metrics=FEW[:4]).to_html(),
    },
    "page-classes": {
        "four classes": lambda: evaluate(i.ANIMALS[i.Y4], i.ANIMALS[i.L4]).to_html(),
        "probabilities": lambda: evaluate(i.Y4, y_score=i.P4).to_html(),
        "hierarchy": lambda: evaluate(i.PATHS[i.Y4], i.PATHS[i.L4], hierarchy="/").to_html(),
        "groups": lambda: evaluate(i.Y4, i.L4, by=i.SITE, metrics=["accuracy", "f1[average=macro]"]).to_html(),
    },
    "page-label-sets": {
        "labels": lambda: evaluate(i.SETS, i.SETS_P).to_html(),
        "scores": lambda: evaluate(i.SETS, y_score=i.SET_SCORES, threshold=0.5).to_html(),
    },
    "page-comparison": {
        "labels": lambda: compare(i.Y, y_pred=i.THREE, metrics=FEW[:4]).to_html(),
        "scores": lambda: compare(i.Y, y_score=i.SCORED, threshold=0.45, metrics=FEW).to_html(),
        "four classes": lambda: compare(i.Y4, y_pred={"a": i.L4, "b": i.M4}, metrics=["accuracy", "mcc"]).to_html(),
        "tables": lambda: compare({"old": i.COUNTS, "new": i.OTHER}, metrics=FEW[:4]).to_html(),
    },
    "page-results": {
        "groups": lambda: questions.GROUPS["labels"]().to_html(),
        "thresholds of groups": lambda: questions.GROUPS["thresholds for a recall"]().to_html(),
        "slices": lambda: questions.SLICES["found"]().to_html(),
        "errors": lambda: questions.ERRORS["with keys"]().to_html(),
        "monitor": lambda: questions.MONITOR["alarm"]().to_html(),
        "monitor of groups": lambda: questions.MONITOR["groups"]().to_html(),
        "drift": lambda: questions.DRIFT["scores"]().to_html(),
        "unlabelled": lambda: questions.UNLABELLED["scores"]().to_html(),
        "label plan": lambda: i.PLAN.to_html(),
        "calibration": lambda: questions.CALIBRATION["scores"]().to_html(),
        "calibration of groups": lambda: questions.CALIBRATION["groups"]().to_html(),
        "threshold": lambda: questions.THRESHOLDS["two limits"]().to_html(),
        "decision": lambda: questions.DECISIONS["costs"]().to_html(),
        "decision curve": lambda: questions.THRESHOLDS["decision curve of two models"]().to_html(),
        "gate": lambda: questions.GATE["fails"]().to_html(),
        "interval": lambda: questions.INTERVAL["clusters"]().to_html(),
        "chance": lambda: questions.CHANCE["f1 of labels"]().to_html(),
        "sample size": lambda: questions.PLANNING["size for a width"]().to_html(),
        "history": lambda: models.LEDGER["history"]().to_html(),
        "diff": lambda: models.LEDGER["diff"]().to_html(),
        "robustness": lambda: models.AUDIT["robustness"]().to_html(),
        "correlation": lambda: models.AUDIT["correlation"]().to_html(),
        "recommendation": lambda: steelyard.recommend().to_html(),
        "audit": lambda: steelyard.audit("recall", "f1").to_html(),
        "audit of all": lambda: steelyard.audit().to_html(),
    },
    "page-protocol": {
        "one model": lambda: models.one().to_html(),
        "two models": lambda: models.two().to_html(),
        "label sets": lambda: steelyard.cross_evaluate(i.tree(), i.XF, i.SETS[: i.FEW], split=2, metrics=["f1[average=macro]"]).to_html(),
        "resampling": lambda: models.PROTOCOL["resampling"]().to_html(),
        "tree": lambda: models.PROTOCOL["tree"]().to_html(),
        "ratios": lambda: models.PROTOCOL["ratios"]().to_html(),
        "nearest mean": lambda: models.PROTOCOL["nearest mean"]().to_html(),
    },
}  # fmt: skip

QUESTIONS = {question: {name: of_page(make) for name, make in made.items()} for question, made in PAGES.items()}
