//! The closing table of `adaann smc`.

use crate::{
    commands::smc::{record::SmcRecord, summary::SmcSummary},
    folder::words::{
        modes,
        table::{parameters, splits},
    },
    text::{
        layout::{aligned, nats, thousands},
        style::Style,
    },
};
use adaann::{
    schedule::{AdaAnn, Guarded, Rule, Schedule},
    smc::Settings,
};
use adaann_report::Table;
use std::path::Path;

/// The results for a terminal.
pub(super) fn text(
    record: &SmcRecord,
    summary: &SmcSummary,
    folder: &Path,
    style: Style,
) -> String {
    let mut text = format!("{}\n", style.bold(&title(record)));
    let mut tables = vec![facts(summary), parameters("parameter", &summary.parameters)];
    if !summary.quantities.is_empty() {
        tables.push(parameters("quantity", &summary.quantities));
    }
    tables.extend(modes::tables(&summary.modes, &summary.found_modes));
    tables.extend((!summary.splits.is_empty()).then(|| splits(&summary.splits)));
    for table in tables {
        text.push('\n');
        text += &aligned(&table, style);
    }
    for warning in &summary.warnings {
        text += &format!("\n{} {warning}\n", style.yellow("warning:"));
    }
    text + &format!("\nwritten to {}\n", folder.display())
}

fn title(record: &SmcRecord) -> String {
    let Settings { particles, islands, moves, jumps, schedule, path, seed, .. } = &record.settings;
    let further = &record.settings.further;
    let annealing = match schedule {
        Schedule::AdaAnn(AdaAnn { tau, .. }) | Schedule::Guarded(Guarded { tau, .. }) => {
            format!("{} from t {} with tau {tau}", schedule.name(), schedule.first())
        }
        other => format!("{} schedule", other.name()),
    };
    let jumps = if *jumps { "with" } else { "without" };
    let mut islands = if *islands > 1 { format!(" in {islands} islands") } else { String::new() };
    if !further.is_empty() {
        islands += &format!(" in {} populations", 1 + further.len());
    }
    format!(
        "{}: {} particles{islands}, {} moves {jumps} jumps, {} path, {annealing}, seed {seed}",
        record.target,
        thousands(*particles),
        moves.name(),
        path.name()
    )
}

fn facts(summary: &SmcSummary) -> Table {
    let mut rows = vec![
        ("stages", thousands(summary.stages)),
        ("target evaluations", thousands(summary.target_evaluations)),
        ("seconds", format!("{:.2}", summary.seconds)),
        ("log Z", format!("{} ± {}", nats(summary.log_z), nats(summary.log_z_error))),
    ];
    if let Some(error) = summary.island_error {
        const MOST: usize = 6;
        let each = summary.island_log_z.iter().take(MOST).map(|log_z| nats(*log_z));
        let each: Vec<String> = each.collect();
        let more = if summary.island_log_z.len() > MOST { ", ..." } else { "" };
        let said = format!("{}{more}; ± {} by their spread", each.join(", "), nats(error));
        rows.push(("log Z (each island)", said));
    }
    if let Some(log_z) = summary.true_log_z {
        rows.push(("log Z (known)", nats(log_z)));
    }
    rows.push(("draws", thousands(summary.draws)));
    let rows = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    let note = (!summary.notes.is_empty()).then(|| summary.notes.join("; "));
    Table { rows, note, ..Table::default() }
}
