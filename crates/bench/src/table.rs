//! Tables as aligned text, and as Markdown.

/// Rows of cells below a row of headings; the first column is text, the others are numbers.
#[derive(Debug, Clone, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new<T: Into<String>>(headings: impl IntoIterator<Item = T>) -> Self {
        Self { rows: vec![headings.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row of as many cells as there are headings.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max();
        (0..columns).map(|column| width(column).unwrap_or(0)).collect()
    }

    fn padded(&self) -> Vec<Vec<String>> {
        let widths = self.widths();
        let cell = |(column, text): (usize, &String)| {
            let width = widths[column];
            if column == 0 { format!("{text:<width$}") } else { format!("{text:>width$}") }
        };
        self.rows.iter().map(|row| row.iter().enumerate().map(cell).collect()).collect()
    }

    /// The table for a terminal.
    pub fn text(&self) -> String {
        let lines = self.padded().into_iter().map(|cells| cells.join("  ").trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n") + "\n"
    }

    /// The table as Markdown that is readable as it is.
    pub fn markdown(&self) -> String {
        let mut lines: Vec<String> =
            self.padded().into_iter().map(|cells| format!("| {} |", cells.join(" | "))).collect();
        let rule = |(column, width): (usize, usize)| {
            let dashes = "-".repeat(width.max(3) - usize::from(column > 0));
            if column == 0 { dashes } else { dashes + ":" }
        };
        let rules: Vec<String> = self.widths().into_iter().enumerate().map(rule).collect();
        lines.insert(1, format!("| {} |", rules.join(" | ")));
        lines.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(["", "bytes"]);
        table.row(["zstd -3", "5"]);
        table.row(["xz", "12 345"]);
        assert_eq!(table.text(), "          bytes\nzstd -3       5\nxz       12 345\n");
        assert_eq!(
            table.markdown(),
            "|         |  bytes |\n| ------- | -----: |\n| zstd -3 |      5 |\n| xz      | 12 345 |\n"
        );
    }
}
