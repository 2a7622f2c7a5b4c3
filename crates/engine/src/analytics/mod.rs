//! What is counted and weighed. [`score`] has the formulae; they know counts and no text.

pub mod score;
