//! All keys of a model file, with a description and the form of the value.

/// One key of a table.
pub(crate) struct Key {
    pub name: &'static str,
    /// One sentence, shown by editors.
    pub about: &'static str,
    pub form: Form,
}

/// The keys of a table.
pub(crate) struct Keys {
    pub known: &'static [Key],
    /// The form of the values of other keys; None if no other keys are allowed.
    pub others: Option<&'static Form>,
    /// Required keys.
    pub required: &'static [&'static str],
}

/// The form of a value.
pub(crate) enum Form {
    Text,
    /// A formula in quotes.
    Formula,
    /// A formula in quotes, or a number.
    Value,
    /// A whole number from 1, or a formula of constants.
    Size,
    Number,
    /// A number of a column; nan marks a missing one.
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
    /// The table of [`Overlay`](crate::fit::Overlay) and [`Output`](crate::model::Output), which read
    /// and check their own values.
    Settings,
    /// The first of these forms that fits the type of the value.
    Either(&'static [Form]),
}

const fn key(name: &'static str, about: &'static str, form: Form) -> Key {
    Key { name, about, form }
}

const fn keys(known: &'static [Key]) -> Keys {
    Keys { known, others: None, required: &[] }
}

/// A table of names, with values of one form.
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
        "The log likelihood of one row of the data; it is summed over the rows.",
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
        "The unknown parameters, each with its prior as a formula or in a table.",
        Form::Table(&PARAMETERS),
    ),
    key(
        "quantities",
        "Formulas with a name, in any order; reported with the draws unless they differ by row.",
        Form::Table(&QUANTITIES),
    ),
    key(
        "likelihood",
        "The distribution of each measured column: column = distribution.",
        Form::Table(&LIKELIHOOD),
    ),
    key("ode", "A system of differential equations.", Form::Table(&ODE)),
    key("series", "States that are updated from row to row of the data.", Form::Table(&SERIES)),
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
            "Empty cells: an error, or rows with an empty left side are left out of that line.",
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
            "Columns computed row by row: name = formula of columns and constants.",
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
    key("prior", "The distribution of the prior; flat if not given.", Form::Formula),
    key(
        "support",
        "The set of possible values; if not given, that of the prior.",
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
        key("formula", "The value: a number or a formula.", Form::Value),
        key(
            "hidden",
            "Use it in other formulas only; do not report it with the draws.",
            Form::Switch,
        ),
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
        key(
            "time",
            "The column of times, and the name of time in the rates; default `t`.",
            Form::Text,
        ),
        key(
            "start",
            "The time at which the states have their start values; default 0.",
            Form::Value,
        ),
        key(
            "settle",
            "How long the system runs before its start, from the start values and at constant time, to \
             begin in its steady state.",
            Form::Value,
        ),
        key(
            "group",
            "A column: rows with the same number belong to one subject, which has its own trajectory.",
            Form::Text,
        ),
        key("solver", "The method that solves the equations.", Form::Choice(SOLVERS)),
        key("step", "The step of rk4.", Form::Positive),
        key("rtol", "The relative tolerance of auto, dopri5 and stiff.", Form::Positive),
        key("atol", "The absolute tolerance of auto, dopri5 and stiff.", Form::Positive),
        key("max-steps", "The maximum number of steps of auto, dopri5 and stiff.", Form::Count),
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
            "When: a number, a list, or a formula of constants and of columns that the rows of a \
             subject share.",
            Form::Either(&[Form::Value, Form::List(&Form::Number)]),
        ),
        key("every", "The time between repetitions, if it is repeated.", Form::Positive),
        key("count", "How often it happens, if it is repeated.", Form::Count),
        key(
            "set",
            "New values: state = formula of the states just before the event.",
            Form::Table(&FLOWS),
        ),
        key("add", "Amounts to add: state = formula.", Form::Table(&FLOWS)),
        key("infuse", "Rates of infusion: state = formula of the rate.", Form::Table(&FLOWS)),
        key("for", "The duration of the infusion.", Form::Value),
    ],
    others: None,
    required: &["at"],
};

pub(crate) const FLOWS: Keys = named(&Form::Value);

pub(crate) const INPUTS: Keys = named(&Form::Table(&INPUT));

pub(crate) const INPUT: Keys = keys(&[
    key("file", "A CSV file with a header, relative to the model file.", Form::Text),
    key("time", "The file's column of times; default: the time of [ode].", Form::Text),
    key("value", "The file's column of values; default: the input's name.", Form::Text),
    key("group", "The file's column of subjects, if each subject has its own curve.", Form::Text),
    key("times", "Times, in place of a file.", Form::List(&Form::Number)),
    key("values", "Values at these times.", Form::List(&Form::Number)),
    key("shape", "The curve between its knots; default \"linear\".", Form::Choice(SHAPES)),
]);

pub(crate) const SHAPES: &[&str] = &["step", "linear", "cubic"];

pub(crate) const STATES: Keys = named(&Form::Table(&STATE));

pub(crate) const STATE: Keys = Keys {
    known: &[
        key("start", "The value at the start: a number or a formula of parameters.", Form::Value),
        key("rate", "The rate of change: a formula of states, parameters and time.", Form::Value),
        key(
            "lag",
            "The delay with which doses of the data arrive: a formula of parameters.",
            Form::Value,
        ),
        key(
            "fraction",
            "The fraction of a dose that arrives: a formula of parameters.",
            Form::Value,
        ),
    ],
    others: None,
    required: &["start", "rate"],
};

pub(crate) const SERIES: Keys = keys(&[
    key("order", "The column that orders the rows; default: the order of the file.", Form::Text),
    key("group", "The column that identifies the series: each has its own start.", Form::Text),
    key(
        "skip",
        "The number of rows at the start of each series that are left out of the likelihood.",
        Form::Count,
    ),
    key(
        "states",
        "The states: the value at the first row, and at later rows from the previous row.",
        Form::Table(&CARRIED),
    ),
    key("final", "A term that the last row of a series adds to the log likelihood.", Form::Value),
]);

pub(crate) const CARRIED: Keys = named(&Form::Table(&CARRY));

pub(crate) const CARRY: Keys = Keys {
    known: &[
        key(
            "size",
            "The length of a vector: a whole number, or a formula of constants.",
            Form::Size,
        ),
        key(
            "start",
            "The value at the first row: a formula of parameters and columns.",
            Form::Value,
        ),
        key(
            "next",
            "The value at later rows: a formula of parameters, columns, and the states of the \
             previous row.",
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
            "The source of gradients: the program, central differences, or what the program declares.",
            Form::Choice(GRADIENTS),
        ),
        key("timeout", "Time limit for one batch, in seconds.", Form::Positive),
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
    /// The description of the form in an error message.
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
