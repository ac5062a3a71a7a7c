//! Two-dimensional arrays: the small part of `ndarray` that policies may use.

use std::ops::{Index, IndexMut};

/// A matrix stored row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Array2<T> {
    shape: [usize; 2],
    items: Vec<T>,
}

/// A read-only look at a matrix.
#[derive(Debug, Clone, Copy)]
pub struct ArrayView2<'a, T> {
    shape: [usize; 2],
    items: &'a [T],
}

impl<T: Clone + Default> Array2<T> {
    /// A matrix of `shape.0` rows and `shape.1` columns, all zero.
    pub fn zeros(shape: (usize, usize)) -> Self {
        Self::from_elem(shape, T::default())
    }
}

impl<T: Clone> Array2<T> {
    /// A matrix whose elements are all `item`.
    pub fn from_elem(shape: (usize, usize), item: T) -> Self {
        Array2 {
            shape: [shape.0, shape.1],
            items: vec![item; shape.0 * shape.1],
        }
    }
}

impl<T> Array2<T> {
    pub fn view(&self) -> ArrayView2<'_, T> {
        ArrayView2 {
            shape: self.shape,
            items: &self.items,
        }
    }

    pub fn nrows(&self) -> usize {
        self.shape[0]
    }

    pub fn ncols(&self) -> usize {
        self.shape[1]
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
}

impl<T> ArrayView2<'_, T> {
    pub fn nrows(&self) -> usize {
        self.shape[0]
    }

    pub fn ncols(&self) -> usize {
        self.shape[1]
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
}

fn position(shape: [usize; 2], [row, column]: [usize; 2]) -> usize {
    assert!(
        row < shape[0] && column < shape[1],
        "index [{row}, {column}] out of {shape:?}"
    );
    row * shape[1] + column
}

impl<T> Index<[usize; 2]> for Array2<T> {
    type Output = T;

    fn index(&self, place: [usize; 2]) -> &T {
        &self.items[position(self.shape, place)]
    }
}

impl<T> IndexMut<[usize; 2]> for Array2<T> {
    fn index_mut(&mut self, place: [usize; 2]) -> &mut T {
        let position = position(self.shape, place);
        &mut self.items[position]
    }
}

impl<T> Index<[usize; 2]> for ArrayView2<'_, T> {
    type Output = T;

    fn index(&self, place: [usize; 2]) -> &T {
        &self.items[position(self.shape, place)]
    }
}
