//! Writes a page with every kind of figure, and their files, to a folder for inspection.

#[path = "../tests/gallery/mod.rs"]
mod gallery;

use std::{fs, path::PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "gallery".into()));
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("page.html"), gallery::page().html())?;
    for (i, figure) in gallery::figures().iter().enumerate() {
        fs::write(folder.join(format!("{i}.svg")), figure.svg())?;
        fs::write(folder.join(format!("{i}.png")), figure.png()?)?;
    }
    Ok(())
}
