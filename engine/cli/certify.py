"""`certify`: judge a variant on rows that no choice has seen; or check a certificate."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from engine.certificate_check import check_certificate, read_certificate
from engine.cli.door import Door, door
from engine.errors import InvalidRequest, NotFound
from engine.records import Certificate
from engine.reports.certificate import to_html, to_json, to_markdown, to_text

FORMATS = {"text": to_text, "json": to_json, "md": to_markdown, "html": to_html}


@click.command("certify")
@click.argument("experiment_ref", metavar="EXPERIMENT", required=False)
@click.option("--check", "file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="A certificate.")
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file.")
def command(experiment_ref: str | None, file: Path | None, form: str, output: Path | None) -> None:
    """Certify a variant, once and for all; its promise allows few certificates. Prints the certificate.

    With --check FILE (its JSON) everything is computed again; the exit status is 0 when the certificate holds.
    """
    if (experiment_ref is None) == (file is None):
        raise InvalidRequest("name an EXPERIMENT to certify, or a certificate with --check FILE")
    if file is not None:
        sys.exit(0 if _check(file) else 1)
    from engine.jobs.certify import certify

    with door() as opened:
        found = certify(opened.ledger, opened.workspace, str(experiment_ref), opened.user, _tell)
    data = FORMATS[form](found)
    if output is None:
        click.echo(data.decode(), nl=False)
    else:
        output.write_bytes(data)
        click.echo(f"written to {output}", err=True)
        click.echo(found.id)


def _check(file: Path) -> bool:
    certificate = read_certificate(file)
    with door() as opened:
        findings = [_in_history(opened, certificate)]
        found = check_certificate(certificate, opened.workspace, _tell)
    findings += [(one.fine, one.text) for one in found.findings]
    for fine, text in findings:
        click.echo(f"{'ok ' if fine else 'NO '} {text}")
    holds = all(fine for fine, _ in findings) and found.holds
    click.echo(f"certificate {certificate.id} {'holds' if holds else 'does not hold'}")
    return holds


def _in_history(opened: Door, certificate: Certificate) -> tuple[bool, str]:
    try:
        same = opened.ledger.certificate(certificate.id) == certificate
    except NotFound:
        return True, "history: not in the history of this home; only the files are checked"
    return same, f"history: {'the same' if same else 'another record'} under the id {certificate.id}"


def _tell(fraction: float, text: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[2K{fraction:4.0%} {text}"[:110], err=True, nl=fraction >= 1)
