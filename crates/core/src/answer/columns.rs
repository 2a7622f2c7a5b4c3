//! The columns of answers, in one place: whoever writes an answer may have to know them before there is one.

use super::Column;

/// Word count and sort.
pub const TERM_COUNTS: &[Column] = &[Column::text("term"), Column::count("count")];

/// Inverted index.
pub const TERM_DOCUMENTS: &[Column] = &[Column::text("term"), Column::text("document")];

/// Term vector.
pub const TERM_VECTORS: &[Column] =
    &[Column::text("document"), Column::text("term"), Column::count("count")];

/// TF-IDF.
pub const TERM_WEIGHTS: &[Column] =
    &[Column::text("document"), Column::text("term"), Column::real("weight")];

/// Sequence count.
pub const SEQUENCE_COUNTS: &[Column] = &[Column::text("sequence"), Column::count("count")];

/// Sequence count per document, and ranked inverted index.
pub const SEQUENCE_DOCUMENTS: &[Column] =
    &[Column::text("sequence"), Column::text("document"), Column::count("count")];

/// Co-occurrence.
pub const PAIR_COUNTS: &[Column] =
    &[Column::text("first"), Column::text("second"), Column::count("count")];

/// Collocations.
pub const PAIR_SCORES: &[Column] = &[
    Column::text("first"),
    Column::text("second"),
    Column::count("count"),
    Column::real("pmi"),
    Column::real("log_likelihood"),
    Column::real("t_score"),
    Column::real("log_dice"),
];
