//! By which method the stretches of a segment are searched: chosen by an estimate of what is left,
//! before the first ones and again behind each batch. What is found does not depend on it.
//!
//! Estimates are in nanoseconds of one thread. What a symbol, a byte or a line costs was measured
//! once (`cargo xtask bench grep`); how many lines are looked at and how much the automaton has to
//! learn is measured as the search goes on.

use super::{Method, Options, Want};

/// The automaton: a symbol of the root, a symbol of a rule or a byte of a token that is read before
/// the search, a step that has to be computed, and a line that is written out and looked at alone.
const ROOT_SYMBOL: f64 = 4.0;
const RULE_SYMBOL: f64 = 6.0;
const TOKEN_BYTE: f64 = 1.5;
const STEP: f64 = 60.0;
const LINE: f64 = 1500.0;
/// A state's row of steps, by symbols.
const ROW_SYMBOL: f64 = 0.5;
/// Steps are fewer later, since passages come again.
const STEPS_LATER: f64 = 0.5;
/// Expansion: a symbol of the root, a symbol of a rule whose text is written out before, and a byte
/// that is scanned, by literals or by an automaton.
const COPIED_SYMBOL: f64 = 14.0;
const WRITTEN_SYMBOL: f64 = 20.0;
const LITERAL_BYTE: f64 = 0.3;
const SCANNED_BYTE: f64 = 1.0;
/// Bytes of text that is expanded token by token.
const TOKEN_COPIED_BYTE: f64 = 1.5;
/// Of the symbols of the root, the part from which the rest is estimated.
const SAMPLE: u64 = 128;
/// The other method has to be so much better.
const BETTER: f64 = 0.8;

/// What is known of a segment before it is searched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    /// Symbols of the root that are searched, and of all rules.
    pub(super) root: u64,
    pub(super) rules: u64,
    /// Tokens and rules.
    pub(super) symbols: u64,
    /// Bytes of a symbol of the root, on average.
    pub(super) bytes_per_symbol: f64,
    /// Whether most symbols of the segment will be met: then what they are is found out before.
    pub(super) most_are_met: bool,
    /// Whether the regular expression looks for literals first.
    pub(super) has_literals: bool,
}

/// What searching has taken so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    /// Symbols of the root that were searched by the automaton, lines that were looked at there,
    /// and steps that were computed.
    pub(super) symbols: u64,
    pub(super) lines: u64,
    pub(super) steps: u64,
}

/// The choice.
#[derive(Debug)]
pub(super) struct Chooser {
    figures: Figures,
    /// No choice is left.
    fixed: bool,
    method: Method,
    estimates: [f64; 2],
}

impl Chooser {
    /// Chooses before anything was searched, by what searching the segment before has taken.
    pub(super) fn new(
        figures: Figures,
        options: &Options,
        lets_all_through: bool,
        before: Spent,
    ) -> Self {
        let counts_only = matches!(options.want, Want::Count | Want::Any);
        let needs_text = lets_all_through || (options.invert && !counts_only);
        let forced = options.method.or(needs_text.then_some(Method::Expansion));
        let mut chooser = Self {
            figures,
            fixed: forced.is_some(),
            method: forced.unwrap_or_default(),
            estimates: [0.0; 2],
        };
        chooser.estimates = chooser.estimate(figures.root, before, true);
        let [automaton, expansion] = chooser.estimates;
        if forced.is_none() && expansion < automaton {
            chooser.method = Method::Expansion;
        }
        chooser
    }

    /// What it takes to search so many symbols of the root, by each method.
    fn estimate(&self, root: u64, spent: Spent, first: bool) -> [f64; 2] {
        let Figures { rules, symbols, bytes_per_symbol, most_are_met, has_literals, .. } =
            self.figures;
        let (root, rules, symbols) = (root as f64, rules as f64, symbols as f64);
        let bytes = root * bytes_per_symbol;
        let rate = |count: u64| match spent.symbols {
            0 => 0.0,
            all => count as f64 / all as f64,
        };
        let learned = match (first, most_are_met) {
            (false, _) => 0.0,
            // Half of the symbols are tokens, of about eight bytes.
            (true, true) => rules * RULE_SYMBOL + symbols / 2.0 * 8.0 * TOKEN_BYTE,
            (true, false) => symbols * ROW_SYMBOL + root * STEP,
        };
        let automaton = learned
            + root * (ROOT_SYMBOL + rate(spent.lines) * LINE)
            + root * rate(spent.steps) * STEPS_LATER * STEP;
        let byte = if has_literals { LITERAL_BYTE } else { SCANNED_BYTE };
        let copied = match most_are_met {
            // Texts may be there already, which is seldom and costs little to forget.
            true => rules * WRITTEN_SYMBOL + root * COPIED_SYMBOL,
            false => bytes * TOKEN_COPIED_BYTE,
        };
        [automaton, copied + bytes * byte]
    }

    /// Chooses again when so many symbols of the root are left.
    pub(super) fn again(&mut self, left: u64, spent: Spent) {
        // From text that is expanded nothing is learnt about the automaton, and from little nothing
        // certain.
        let is_known = spent.symbols > self.figures.root / SAMPLE;
        if self.fixed || self.method == Method::Expansion || !is_known {
            return;
        }
        let [automaton, expansion] = self.estimate(left, spent, false);
        if expansion < BETTER * automaton {
            self.estimates = [automaton, expansion];
            self.method = Method::Expansion;
        }
    }

    /// The method for the next stretches.
    pub(super) fn method(&self) -> Method {
        self.method
    }

    /// Whether the automaton will be asked about most symbols of the segment.
    pub(super) fn learns_before(&self) -> bool {
        self.figures.most_are_met && self.method == Method::Automaton
    }

    /// Estimates by automaton and by expansion when the method was chosen; `None` where there was
    /// no choice.
    pub(super) fn estimates(&self) -> Option<[f64; 2]> {
        (!self.fixed).then_some(self.estimates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(root: u64, rules: u64, bytes_per_symbol: f64) -> Figures {
        let symbols = rules;
        let (most_are_met, has_literals) = (root * 4 > symbols, true);
        Figures { root, rules, symbols, bytes_per_symbol, most_are_met, has_literals }
    }

    #[test]
    fn text_that_repeats_is_searched_by_the_automaton_and_few_documents_by_expansion() {
        let chosen =
            |figures| Chooser::new(figures, &Options::default(), false, Spent::default()).method();
        assert_eq!(chosen(figures(1 << 20, 1 << 20, 1000.0)), Method::Automaton);
        assert_eq!(chosen(figures(1 << 10, 1 << 20, 19.0)), Method::Expansion);
    }

    #[test]
    fn many_lines_or_steps_change_the_choice_unless_it_is_forced() {
        let figures = figures(1 << 24, 1 << 22, 19.0);
        for (lines, steps, method, expected) in [
            (0, 0, None, Method::Automaton),
            (1 << 16, 0, None, Method::Expansion),
            (0, 1 << 18, None, Method::Expansion),
            (1 << 16, 1 << 18, Some(Method::Automaton), Method::Automaton),
        ] {
            let options = Options { method, ..Options::default() };
            let mut chooser = Chooser::new(figures, &options, false, Spent::default());
            assert_eq!(chooser.method(), Method::Automaton);
            chooser.again(1 << 24, Spent { symbols: 1 << 10, lines, steps });
            assert_eq!(chooser.method(), Method::Automaton);
            chooser.again(1 << 24, Spent { symbols: 1 << 18, lines, steps });
            assert_eq!(chooser.method(), expected, "{lines} {steps}");
            // The next segment is like this one.
            let before = Spent { symbols: 1 << 18, lines, steps };
            assert_eq!(Chooser::new(figures, &options, false, before).method(), expected);
        }
        let options = Options { method: Some(Method::Expansion), ..Options::default() };
        assert_eq!(
            Chooser::new(figures, &options, false, Spent::default()).method(),
            Method::Expansion
        );
        let inverted = Options { invert: true, ..Options::default() };
        assert_eq!(
            Chooser::new(figures, &inverted, false, Spent::default()).method(),
            Method::Expansion
        );
    }
}
