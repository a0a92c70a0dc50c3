"""The suite's facts about cdl-json."""

from __future__ import annotations

from cdcwire_conformance.families.connect_lenient import CONNECT_SCALARS, CONNECT_UNCHECKED
from cdcwire_conformance.formats.cdl_json.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.cdl_json.mutations import RULES
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json
from cdcwire_conformance.suite import FormatSuite, SizeFacts

LIBERTIES = Liberties(
    unchecked=CONNECT_UNCHECKED | {"cdl-json: message version"},
    scalars=CONNECT_SCALARS,
    mend=mend_json,
)

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#3f9a9c",
        note=(
            "`cdl-json` has one row per message, with the schema of its table unless the "
            "option schemas-enable is false. It keeps milliseconds: rows with more digits of "
            "a second are left out."
        ),
        has_one_row_per_message=True,
    ),
)
