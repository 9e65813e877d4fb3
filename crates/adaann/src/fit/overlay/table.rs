//! Tables of settings: the name of each, its purpose, and the form of its value.
//!
//! [`settings!`] generates each table. The reader of model files, their schema, and the flags of a
//! command line with their help all use it.

/// A value as written by the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Written<'a> {
    /// A word of a command line, which may represent a number or a list as well.
    Word(&'a str),
    /// Text in a file.
    Text(&'a str),
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
    /// On or off.
    Switch(bool),
    /// A list of numbers.
    Numbers(&'a [f64]),
    /// Anything else, which no setting accepts: a date, a table, a list of texts.
    Other,
}

/// Names with a one-line description of each.
pub type Names = &'static [(&'static str, &'static str)];

/// The form of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// On or off; a flag without a value.
    Switch,
    /// A whole number.
    Count,
    /// A number.
    Number,
    /// A number, or one of these words.
    NumberOr(Names),
    /// One number, or a list of them.
    Numbers,
    /// One of these names.
    Name(Names),
    /// One of these names, or several joined by `+`.
    Joined(Names),
    /// One of these names, or a list of coordinates counted from 0.
    Coordinates(Names),
    /// Text in a special form, which the help describes.
    Text,
}

/// A setting of a table `T`.
pub struct Setting<T> {
    /// Its name in files; the flag is the same name after two dashes.
    pub name: &'static str,
    /// The heading under which it is listed.
    pub heading: &'static str,
    /// The placeholder for its value in help texts; empty for a switch.
    pub symbol: &'static str,
    /// The form of its value.
    pub form: Form,
    pub(crate) about: &'static str,
    pub(crate) read: fn(&mut T, Written<'_>) -> Result<(), String>,
    pub(crate) is_given: fn(&T) -> bool,
    pub(crate) inherit: fn(&mut T, &T),
}

impl<T> Setting<T> {
    /// The help text; names of settings are in backticks.
    pub fn about(&self) -> &'static str {
        self.about.trim()
    }

    /// Reads its value.
    ///
    /// # Errors
    /// What the value must be, as a phrase that follows the name of the setting.
    pub fn read(&self, into: &mut T, written: Written<'_>) -> Result<(), String> {
        (self.read)(into, written)
    }

    /// Is a value given?
    pub fn is_given(&self, of: &T) -> bool {
        (self.is_given)(of)
    }
}

/// Settings, each of them optional.
pub trait Table: Clone + Default + 'static {
    /// All settings.
    const TABLE: &'static [Setting<Self>];

    /// The setting with this name.
    fn find(name: &str) -> Option<&'static Setting<Self>> {
        Self::TABLE.iter().find(|setting| setting.name == name)
    }

    /// These settings, with missing values taken from `below`.
    #[must_use]
    fn over(mut self, below: &Self) -> Self {
        Self::TABLE.iter().for_each(|setting| (setting.inherit)(&mut self, below));
        self
    }
}

/// A type of values.
pub(crate) trait Value: Sized {
    const FORM: Form;

    /// The error says what the value must be.
    fn read(written: Written<'_>) -> Result<Self, String>;
}

/// Defines a struct of optional settings with its table; the comment on a field is its help text.
macro_rules! settings {
    (
        $(#[doc = $whole:literal])*
        pub struct $table:ident {
            $($heading:path {
                $($(#[doc = $about:literal])+ $field:ident: $type:ty = $name:literal $symbol:literal,)+
            })+
        }
    ) => {
        $(#[doc = $whole])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $table {
            $($($(#[doc = $about])+ pub $field: Option<$type>,)+)+
        }

        impl $crate::fit::overlay::Table for $table {
            const TABLE: &'static [$crate::fit::overlay::Setting<Self>] = &[
                $($($crate::fit::overlay::Setting {
                    name: $name,
                    heading: $heading,
                    symbol: $symbol,
                    about: concat!($($about),+),
                    form: <$type as $crate::fit::overlay::Value>::FORM,
                    read: |into, written| {
                        into.$field =
                            Some(<$type as $crate::fit::overlay::Value>::read(written)?);
                        Ok(())
                    },
                    is_given: |of| of.$field.is_some(),
                    inherit: |into, below| {
                        if into.$field.is_none() {
                            into.$field.clone_from(&below.$field);
                        }
                    },
                },)+)+
            ];
        }

        #[cfg(test)]
        #[test]
        fn names_are_those_of_the_fields_with_dashes() {
            let fields = [$($(stringify!($field),)+)+];
            let names = <$table as $crate::fit::overlay::Table>::TABLE.iter().map(|s| s.name);
            let dashed = fields.map(|field| field.replace('_', "-"));
            assert!(names.eq(dashed.iter().map(String::as_str)));
        }
    };
}
pub(crate) use settings;
