//! Decimal numbers with a variable scale.
//!
//! Some 38 digits in total. Products that need more lose their last decimals.

#[derive(Clone, Copy, Default)]
pub struct Decimal {
    digits: i128,
    scale: u32,
}

impl Decimal {
    pub const ONE: Self = Self { digits: 1, scale: 0 };

    pub fn parse(text: &str, base: u32) -> Option<Self> {
        if base != 10 {
            return Some(Self { digits: i128::from_str_radix(text, base).ok()?, scale: 0 });
        }
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("0{whole}{fraction}").parse().ok()?;
        Some(Self { digits, scale: u32::try_from(fraction.len()).ok()? })
    }

    /// Returns the nearest decimal of a float.
    pub fn from_float(value: f64, scale: u32) -> Option<Self> {
        let text = format!("{value:.*}", usize::try_from(scale).ok()?);
        let number = Self::parse(text.trim_start_matches('-'), 10)?;
        Some(if value < 0.0 { number.negated() } else { number })
    }

    pub fn to_float(self) -> f64 {
        self.text(10).parse().unwrap_or(f64::NAN)
    }

    pub fn truth(holds: bool) -> Self {
        Self { digits: i128::from(holds), scale: 0 }
    }

    pub fn count(number: u32) -> Self {
        Self { digits: i128::from(number), scale: 0 }
    }

    pub fn is_zero(self) -> bool {
        self.digits == 0
    }

    pub fn scale(self) -> u32 {
        self.scale
    }

    pub fn length(self) -> u32 {
        self.digits.unsigned_abs().checked_ilog10().map_or(1, |digits| digits + 1).max(self.scale)
    }

    pub fn negated(self) -> Self {
        Self { digits: -self.digits, ..self }
    }

    /// Returns the number with this many digits after the point, truncating the rest.
    pub fn with_scale(self, scale: u32) -> Option<Self> {
        let digits = if scale >= self.scale {
            self.digits.checked_mul(power_of_ten(scale - self.scale)?)?
        } else {
            self.digits / power_of_ten(self.scale - scale)?
        };
        Some(Self { digits, scale })
    }

    pub fn whole(self) -> Option<i64> {
        i64::try_from(self.with_scale(0)?.digits).ok()
    }

    pub fn plus(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let digits = self.with_scale(scale)?.digits.checked_add(other.with_scale(scale)?.digits)?;
        Some(Self { digits, scale })
    }

    pub fn times(self, other: Self, scale: u32) -> Option<Self> {
        let wanted = (self.scale + other.scale).min(scale.max(self.scale).max(other.scale));
        let (mut left, mut right) = (self, other);
        loop {
            if let Some(digits) = left.digits.checked_mul(right.digits) {
                return Self { digits, scale: left.scale + right.scale }.with_scale(wanted);
            }
            (left, right) = if left.scale >= right.scale { (left.shorter()?, right) } else { (left, right.shorter()?) };
        }
    }

    /// Returns `None` also for a division by zero, which callers exclude.
    pub fn divided_by(self, other: Self, scale: u32) -> Option<Self> {
        let (mut left, mut right) = (self, other);
        loop {
            if let Some(numerator) = left.with_scale(scale + right.scale) {
                return Some(Self { digits: numerator.digits.checked_div(right.digits)?, scale });
            }
            (left, right) = if right.scale > 0 { (left, right.shorter()?) } else { (left.shorter()?, right) };
        }
    }

    pub fn remainder(self, other: Self, scale: u32) -> Option<Self> {
        let quotient = self.divided_by(other, scale)?;
        let exact = scale + other.scale;
        let product = quotient.times(other, exact)?;
        self.plus(product.negated())?.with_scale(exact.max(self.scale))
    }

    pub fn power(self, exponent: Self, scale: u32) -> Option<Self> {
        let count = exponent.whole()?;
        let times = u32::try_from(count.unsigned_abs()).ok()?;
        let kept = (self.scale * times).min(scale.max(self.scale));
        let mut result = Self::ONE;
        for _ in 0..times {
            result = result.times(self, kept.max(scale))?;
        }
        if count < 0 { Self::ONE.divided_by(result, scale) } else { result.with_scale(kept) }
    }

    pub fn square_root(self, scale: u32) -> Option<Self> {
        let scale = scale.max(self.scale);
        let digits = self.with_scale(2 * scale)?.digits.checked_isqrt()?;
        Some(Self { digits, scale })
    }

    pub fn is_less_than(self, other: Self) -> Option<bool> {
        self.plus(other.negated()).map(|difference| difference.digits < 0)
    }

    fn shorter(self) -> Option<Self> {
        self.with_scale(self.scale.checked_sub(1)?)
    }

    /// Formats like `bc`: without a zero before the point.
    pub fn text(self, base: u32) -> String {
        let sign = if self.digits < 0 { "-" } else { "" };
        let number = self.digits.unsigned_abs();
        if base != 10 {
            let whole = number / power_of_ten(self.scale).map_or(1, i128::unsigned_abs);
            return format!("{sign}{}", in_base(whole, base));
        }
        if number == 0 {
            return "0".to_owned();
        }
        let scale = self.scale as usize;
        let digits = format!("{number:0>scale$}");
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
    }
}

fn power_of_ten(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

fn in_base(mut number: u128, base: u32) -> String {
    let mut digits = Vec::new();
    loop {
        let digit = u32::try_from(number % u128::from(base)).unwrap_or(0);
        digits.push(char::from_digit(digit, 36).unwrap_or('?').to_ascii_uppercase());
        number /= u128::from(base);
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}
