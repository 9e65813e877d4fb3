//! All keys of a model file: what each is for and what its value looks like.

/// One key of a table.
pub(crate) struct Key {
    pub name: &'static str,
    /// One sentence, for editors.
    pub about: &'static str,
    pub form: Form,
}

/// The keys of a table.
pub(crate) struct Keys {
    pub known: &'static [Key],
    /// What any other key's value looks like; none if there are no others.
    pub others: Option<&'static Form>,
    /// Keys that must be there.
    pub required: &'static [&'static str],
}

/// What a value looks like.
pub(crate) enum Form {
    Text,
    /// A formula as text.
    Formula,
    /// A formula as text, or a number.
    Value,
    /// A whole number from 1, or a formula of constants.
    Size,
    Number,
    /// A number of a column; nan is a missing one.
    Cell,
    /// A number above 0.
    Positive,
    /// A whole number from 1.
    Count,
    /// true or false.
    Switch,
    Choice(&'static [&'static str]),
    List(&'static Form),
    Table(&'static Keys),
    /// The table of [`Overlay`](crate::fit::Overlay) and [`Output`](crate::model::Output), whose values
    /// are read and checked by their own tables.
    Settings,
    /// The first that the value's type fits.
    Either(&'static [Form]),
}

const fn key(name: &'static str, about: &'static str, form: Form) -> Key {
    Key { name, about, form }
}

const fn keys(known: &'static [Key]) -> Keys {
    Keys { known, others: None, required: &[] }
}

/// A table from names to values of one form.
const fn named(others: &'static Form) -> Keys {
    Keys { known: &[], others: Some(others), required: &[] }
}

pub(crate) const FILE: Keys = keys(&[
    key("title", "What the model is, in a few words.", Form::Text),
    key(
        "density",
        "The logarithm of a density of the parameters, up to a constant.",
        Form::Formula,
    ),
    key(
        "log-likelihood",
        "The log density of one row of the data; it is summed over the rows.",
        Form::Formula,
    ),
    key(
        "command",
        "A program that computes the log likelihood.",
        Form::Either(&[Form::Text, Form::Table(&COMMAND)]),
    ),
    key(
        "constants",
        "Numbers, lists, lists of rows, files of them, or formulas of constants and columns.",
        Form::Table(&CONSTANTS),
    ),
    key("data", "A file of measurements, or its columns.", Form::Table(&DATA)),
    key(
        "parameters",
        "What is unknown: each parameter's prior, as a formula or in a table.",
        Form::Table(&PARAMETERS),
    ),
    key(
        "quantities",
        "Formulas with a name, in any order; reported with the draws unless they depend on the row.",
        Form::Table(&QUANTITIES),
    ),
    key(
        "likelihood",
        "The distribution of each measured column: column = distribution.",
        Form::Table(&LIKELIHOOD),
    ),
    key("ode", "A system of differential equations.", Form::Table(&ODE)),
    key("series", "What is carried from row to row of the data.", Form::Table(&SERIES)),
    key("fit", "Settings of a fit.", Form::Settings),
]);

pub(crate) const CONSTANTS: Keys = named(&Form::Either(&[
    Form::Value,
    Form::List(&Form::Either(&[Form::Number, Form::List(&Form::Number)])),
    Form::Table(&CONSTANT),
]));

pub(crate) const CONSTANT: Keys = Keys {
    known: &[key(
        "file",
        "A CSV file of numbers, with or without a header, relative to the model file.",
        Form::Text,
    )],
    others: None,
    required: &["file"],
};

pub(crate) const DATA: Keys = Keys {
    known: &[
        key("file", "A CSV file with a header, relative to the model file.", Form::Text),
        key(
            "missing",
            "Empty cells: an error, or the row is skipped where its own left side is empty.",
            Form::Choice(&["error", "skip"]),
        ),
        key(
            "rename",
            "Names for columns of the file: new name = column.",
            Form::Table(&named(&Form::Text)),
        ),
        key(
            "join",
            "Other files, whose columns are looked up by one that both have.",
            Form::List(&Form::Table(&JOIN)),
        ),
        key(
            "derived",
            "More columns: name = formula of columns and constants, for each row.",
            Form::Table(&named(&Form::Value)),
        ),
        key(
            "vectors",
            "Several columns as one vector of the row: name = list of columns.",
            Form::Table(&named(&Form::List(&Form::Text))),
        ),
    ],
    others: Some(&Form::List(&Form::Cell)),
    required: &[],
};

pub(crate) const JOIN: Keys = Keys {
    known: &[
        key(
            "file",
            "A CSV file with one row for each key, relative to the model file.",
            Form::Text,
        ),
        key("by", "The column that both files have.", Form::Text),
    ],
    others: None,
    required: &["file", "by"],
};

pub(crate) const PARAMETERS: Keys = named(&Form::Either(&[Form::Formula, Form::Table(&PARAMETER)]));

pub(crate) const PARAMETER: Keys = keys(&[
    key("prior", "The prior's distribution; flat if there is none.", Form::Formula),
    key(
        "support",
        "Where the parameter lives; if not given, where its prior does.",
        Form::Choice(SUPPORTS),
    ),
    key(
        "lower",
        "The lower bound: a number, or a formula of constants and of parameters above.",
        Form::Value,
    ),
    key(
        "upper",
        "The upper bound: a number, or a formula of constants and of parameters above.",
        Form::Value,
    ),
    key(
        "size",
        "The length of a vector, or rows and columns of a matrix: whole numbers, or formulas of constants.",
        Form::Either(&[Form::Size, Form::List(&Form::Size)]),
    ),
]);

pub(crate) const SUPPORTS: &[&str] = &[
    "real",
    "positive",
    "unit",
    "ordered",
    "positive-ordered",
    "simplex",
    "correlation",
    "cholesky-correlation",
];

pub(crate) const QUANTITIES: Keys = named(&Form::Either(&[Form::Value, Form::Table(&QUANTITY)]));

pub(crate) const QUANTITY: Keys = Keys {
    known: &[
        key("formula", "What it is: a number or a formula.", Form::Value),
        key("hidden", "For use in other formulas only: not reported with the draws.", Form::Switch),
    ],
    others: None,
    required: &["formula"],
};

pub(crate) const LIKELIHOOD: Keys = named(&Form::Either(&[Form::Formula, Form::Table(&LINE)]));

pub(crate) const LINE: Keys = Keys {
    known: &[
        key("law", "The distribution of the column.", Form::Formula),
        key(
            "weight",
            "How often each row counts: a formula of columns and constants.",
            Form::Value,
        ),
    ],
    others: None,
    required: &["law"],
};

pub(crate) const ODE: Keys = Keys {
    known: &[
        key("time", "The column of times, and time's name in the rates; `t`.", Form::Text),
        key("start", "When the states have their start values; 0.", Form::Value),
        key(
            "settle",
            "How long the system runs before its start, from the start values and with the clock held, to \
             begin in its steady state.",
            Form::Value,
        ),
        key(
            "group",
            "A column: rows with the same number there are one subject, with a trajectory of its own.",
            Form::Text,
        ),
        key("solver", "The method that solves the equations.", Form::Choice(SOLVERS)),
        key("step", "The step of rk4.", Form::Positive),
        key("rtol", "The relative tolerance of auto, dopri5 and stiff.", Form::Positive),
        key("atol", "The absolute tolerance of auto, dopri5 and stiff.", Form::Positive),
        key("max-steps", "The most steps of auto, dopri5 and stiff.", Form::Count),
        key(
            "events",
            "Times at which states jump or something flows in: a list, or \"nonmem\" for doses in the data.",
            Form::Either(&[Form::Choice(EVENTS), Form::List(&Form::Table(&EVENT))]),
        ),
        key("inputs", "Known curves of time, which rates may name.", Form::Table(&INPUTS)),
        key(
            "states",
            "The states, each with its start value and its rate of change.",
            Form::Table(&STATES),
        ),
    ],
    others: None,
    required: &["states"],
};

pub(crate) const SOLVERS: &[&str] = &["auto", "dopri5", "rk4", "stiff"];

pub(crate) const EVENTS: &[&str] = &["nonmem"];

pub(crate) const EVENT: Keys = Keys {
    known: &[
        key(
            "at",
            "When: a number, a list, or a formula of constants and of what a subject's rows share.",
            Form::Either(&[Form::Value, Form::List(&Form::Number)]),
        ),
        key("every", "The time from one to the next, if it is repeated.", Form::Positive),
        key("count", "How often it happens, if it is repeated.", Form::Count),
        key("set", "New values: state = formula of the states just before.", Form::Table(&FLOWS)),
        key("add", "What is added: state = formula.", Form::Table(&FLOWS)),
        key("infuse", "What flows in: state = rate, as a formula.", Form::Table(&FLOWS)),
        key("for", "How long it flows in.", Form::Value),
    ],
    others: None,
    required: &["at"],
};

pub(crate) const FLOWS: Keys = named(&Form::Value);

pub(crate) const INPUTS: Keys = named(&Form::Table(&INPUT));

pub(crate) const INPUT: Keys = keys(&[
    key("file", "A CSV file with a header, relative to the model file.", Form::Text),
    key("time", "The file's column of times; that of [ode].", Form::Text),
    key("value", "The file's column of values; the input's name.", Form::Text),
    key("group", "The file's column of subjects, if each has a curve of its own.", Form::Text),
    key("times", "Times, in place of a file.", Form::List(&Form::Number)),
    key("values", "Values at these times.", Form::List(&Form::Number)),
    key("shape", "The curve between its knots; \"linear\".", Form::Choice(SHAPES)),
]);

pub(crate) const SHAPES: &[&str] = &["step", "linear", "cubic"];

pub(crate) const STATES: Keys = named(&Form::Table(&STATE));

pub(crate) const STATE: Keys = Keys {
    known: &[
        key("start", "The value at the start: a number or a formula of parameters.", Form::Value),
        key("rate", "The rate of change: a formula of states, parameters and time.", Form::Value),
        key(
            "lag",
            "How much later doses of the data arrive: a formula of parameters.",
            Form::Value,
        ),
        key("fraction", "The share of a dose that arrives: a formula of parameters.", Form::Value),
    ],
    others: None,
    required: &["start", "rate"],
};

pub(crate) const SERIES: Keys = keys(&[
    key("order", "The column in whose order rows are taken; that of the file.", Form::Text),
    key("group", "The column that tells series apart: each has a start of its own.", Form::Text),
    key("skip", "So many rows at the start of each series are not measured.", Form::Count),
    key(
        "states",
        "What is carried: its value at the first row, and at a later one from the row before.",
        Form::Table(&CARRIED),
    ),
    key("final", "What the last row of a series adds to the log likelihood.", Form::Value),
]);

pub(crate) const CARRIED: Keys = named(&Form::Table(&CARRY));

pub(crate) const CARRY: Keys = Keys {
    known: &[
        key(
            "size",
            "The length of a vector: a whole number, or a formula of constants.",
            Form::Size,
        ),
        key("start", "The value at the first row: of parameters and columns.", Form::Value),
        key(
            "next",
            "The value at a later row: of parameters, columns, and the states of the row before.",
            Form::Value,
        ),
    ],
    others: None,
    required: &["start", "next"],
};

pub(crate) const COMMAND: Keys = Keys {
    known: &[
        key(
            "run",
            "The program, or a list of the program and its arguments.",
            Form::Either(&[Form::Text, Form::List(&Form::Text)]),
        ),
        key(
            "gradient",
            "Who makes gradients: the program, central differences, or as the program says.",
            Form::Choice(GRADIENTS),
        ),
        key("timeout", "Seconds for one batch.", Form::Positive),
    ],
    others: None,
    required: &["run"],
};

pub(crate) const GRADIENTS: &[&str] = &["auto", "program", "differences"];

impl Keys {
    pub(crate) fn get(&self, name: &str) -> Option<&'static Key> {
        self.known.iter().find(|key| key.name == name)
    }
}

impl Form {
    /// What an error says was expected.
    pub(crate) fn expected(&self) -> String {
        match self {
            Form::Text => "text in quotes".to_owned(),
            Form::Formula => "a formula in quotes".to_owned(),
            Form::Value => "a number or a formula".to_owned(),
            Form::Size => "a whole number from 1 or the name of a constant".to_owned(),
            Form::Number | Form::Cell => "a number".to_owned(),
            Form::Positive => "a number above 0".to_owned(),
            Form::Count => "a whole number from 1".to_owned(),
            Form::Switch => "true or false".to_owned(),
            Form::Choice(words) => {
                let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
                quoted.join(" or ")
            }
            Form::List(Form::Number | Form::Cell) => "a list of numbers".to_owned(),
            Form::List(Form::Text) => "a list of texts".to_owned(),
            Form::List(_) => "a list".to_owned(),
            Form::Table(_) | Form::Settings => "a table".to_owned(),
            Form::Either(forms) => {
                let expected: Vec<_> = forms.iter().map(Form::expected).collect();
                expected.join(" or ")
            }
        }
    }
}
