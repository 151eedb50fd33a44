//! Bounds on what drives the time and the memory of the compiler.
//!
//! A compilation cannot be stopped, so what would take long is refused before it begins. The size of a file says little: the
//! compiler follows every local variable and every operand through every branch, and copies the parameters of every call
//! and the results of every jump. [`check`] validates a file and counts these steps while it reads each operator once.

use super::Fault;
use wasmparser::{
    CompositeInnerType, ConstExpr, DataKind, ElementItems, ElementKind, FuncToValidate, FuncValidator,
    FuncValidatorAllocations, FunctionBody, ModuleArity, Operator, Parser, Payload, TableInit, ValidPayload, Validator,
    ValidatorResources, WasmFeatures,
};

/// What a file may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// In bytes, of one function.
    pub function_size: u64,
    /// The steps for one function. What the compiler does with a value can depend on all others of the function.
    pub function_steps: u64,
    /// The steps for all functions.
    pub steps: u64,
    pub functions: u64,
    /// The entries of all tables that the compiler may compute.
    pub table_entries: u64,
    /// Memories, each of which has an image of its initial data.
    pub memories: u64,
    /// Types, imports, exports and the like.
    pub items: u64,
    /// How many components may be nested in the file. The compiler unfolds them.
    pub components: u64,
    /// Whether nested components may have code, for which the compiler generates adapters.
    pub nested_code: bool,
}

impl Bounds {
    /// For files that the operator configures.
    pub const OPERATOR: Self = Self {
        function_size: 512 << 10,
        function_steps: 30_000_000,
        steps: 300_000_000,
        functions: 1_000_000,
        table_entries: 100 << 20,
        memories: 100,
        items: 1_000_000,
        components: 1_000,
        nested_code: true,
    };

    /// For programs that are part of a skill.
    pub const CONTENT: Self = Self {
        function_size: 128 << 10,
        function_steps: 600_000,
        steps: 8_000_000,
        functions: 20_000,
        table_entries: 4 << 20,
        memories: 4,
        items: 50_000,
        components: 16,
        nested_code: false,
    };
}

/// What is beyond a bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Excess {
    #[error("it has a function of {size} bytes, and the limit is {limit}")]
    FunctionSize { size: u64, limit: u64 },
    #[error(
        "function {function} uses {locals} locals across {edges} branches, which takes at least {steps} steps, and the limit \
         is {limit}"
    )]
    Function { function: u32, locals: u64, edges: u64, steps: u64, limit: u64 },
    #[error("its globals and segments take at least {steps} steps, and the limit is {limit}")]
    Startup { steps: u64, limit: u64 },
    #[error("it has at least {count} {what}, and the limit is {limit}")]
    Count { what: &'static str, count: u64, limit: u64 },
    #[error("the components nested in it have code")]
    NestedCode,
}

// A step is about a microsecond, and at most some hundred bytes of memory. Measured with the programs in `tests/nasty.rs`.

/// The steps of a function without code, and of the trampoline through which others call it.
const STEPS_PER_FUNCTION: u64 = 170;
const STEPS_PER_OPERATOR: u64 = 5;
const STEPS_PER_CALL: u64 = 10;
const STEPS_PER_CALL_VALUE: u64 = 8;
/// An operator that calls the host.
const STEPS_PER_HOST_CALL: u64 = 100;
const STEPS_PER_TARGET: u64 = 2;
/// Where fuel and time are checked.
const STEPS_PER_LOOP: u64 = 130;
/// An element, or the place of a segment.
const STEPS_PER_ELEMENT: u64 = 15;

/// Of one table. The entries beyond are left to its instances.
const MAX_COMPUTED_ENTRIES: u64 = 1 << 20;

/// Values that pass an edge between basic blocks cost little, one by one.
const VALUES_PER_STEP: u64 = 4;
/// A local is looked up in each loop, and in loops inside of several others over and over.
const STEPS_PER_LOOP_LOCAL: u64 = 2;
const STEPS_PER_DEEP_LOOP_LOCAL: u64 = 10;
const DEEP: usize = 4;
/// Some analyses compare loops with one another.
const LOOP_PAIRS_PER_STEP: u64 = 20;

/// The values that the compiler carries through every function itself.
const OWN_LOCALS: u64 = 4;

/// Validates a file, and rejects it if it would take too long to compile.
pub(crate) fn check(bytes: &[u8], features: WasmFeatures, bounds: &Bounds) -> Result<(), Fault> {
    let count = Count {
        bounds,
        steps: 0,
        startup_steps: 0,
        functions: 0,
        table_entries: 0,
        memories: 0,
        items: 0,
        components: 0,
    };
    count.file(bytes, features)
}

/// What a file costs, as far as it was read.
struct Count<'bounds> {
    bounds: &'bounds Bounds,
    steps: u64,
    /// Of the function that initializes the module that is being read.
    startup_steps: u64,
    functions: u64,
    table_entries: u64,
    memories: u64,
    items: u64,
    components: u64,
}

impl Count<'_> {
    fn file(mut self, bytes: &[u8], features: WasmFeatures) -> Result<(), Fault> {
        let mut validator = Validator::new_with_features(features);
        let mut allocations = FuncValidatorAllocations::default();
        let mut depth = 0_u32;
        for payload in Parser::new(0).parse_all(bytes) {
            let payload = payload.map_err(invalid)?;
            match &payload {
                Payload::Version { .. } => depth += 1,
                Payload::End(_) => depth -= 1,
                Payload::ComponentCanonicalSection(_) if depth > 1 && !self.bounds.nested_code => {
                    return Err(Fault::Complex(Excess::NestedCode));
                }
                _ => {}
            }
            self.section(&payload)?;
            if let ValidPayload::Func(function, body) = validator.payload(&payload).map_err(invalid)? {
                allocations = self.function(function, &body, allocations)?;
            }
        }
        Ok(())
    }

    fn section(&mut self, payload: &Payload<'_>) -> Result<(), Fault> {
        let bounds = self.bounds;
        match payload {
            Payload::Version { .. } => self.startup_steps = 0,
            Payload::ComponentSection { .. } => {
                self.components += 1;
                within("nested components", self.components, bounds.components)?;
            }
            Payload::ComponentInstanceSection(section) => {
                self.components += u64::from(section.count());
                within("instances of components", self.components, bounds.components)?;
            }
            Payload::TypeSection(section) => {
                self.items(section.count())?;
                for group in section.clone() {
                    for ty in group.map_err(invalid)?.types() {
                        // An imported function of this type takes a trampoline.
                        let CompositeInnerType::Func(ty) = &ty.composite_type.inner else { continue };
                        self.add(signature_steps(ty.params().len(), ty.results().len()))?;
                    }
                }
            }
            Payload::ImportSection(section) => self.items(section.count())?,
            Payload::ExportSection(section) => self.items(section.count())?,
            Payload::TagSection(section) => self.items(section.count())?,
            Payload::InstanceSection(section) => self.items(section.count())?,
            Payload::CoreTypeSection(section) => self.items(section.count())?,
            Payload::ComponentTypeSection(section) => self.items(section.count())?,
            Payload::ComponentAliasSection(section) => self.items(section.count())?,
            Payload::ComponentCanonicalSection(section) => self.items(section.count())?,
            Payload::ComponentImportSection(section) => self.items(section.count())?,
            Payload::ComponentExportSection(section) => self.items(section.count())?,
            Payload::FunctionSection(section) => {
                self.functions += u64::from(section.count());
                within("functions", self.functions, bounds.functions)?;
            }
            Payload::MemorySection(section) => {
                self.memories += u64::from(section.count());
                within("memories", self.memories, bounds.memories)?;
            }
            Payload::TableSection(section) => {
                for table in section.clone() {
                    let table = table.map_err(invalid)?;
                    self.table_entries += table.ty.initial.min(MAX_COMPUTED_ENTRIES);
                    within("table entries", self.table_entries, bounds.table_entries)?;
                    if let TableInit::Expr(value) = &table.init {
                        self.segment(value)?;
                    }
                }
            }
            Payload::GlobalSection(section) => {
                for global in section.clone() {
                    self.segment(&global.map_err(invalid)?.init_expr)?;
                }
            }
            Payload::DataSection(section) => {
                for data in section.clone() {
                    if let DataKind::Active { offset_expr, .. } = data.map_err(invalid)?.kind {
                        self.segment(&offset_expr)?;
                    }
                }
            }
            Payload::ElementSection(section) => {
                for elements in section.clone() {
                    let elements = elements.map_err(invalid)?;
                    if let ElementKind::Active { offset_expr, .. } = &elements.kind {
                        self.segment(offset_expr)?;
                    }
                    let count = match elements.items {
                        ElementItems::Functions(section) => section.count(),
                        ElementItems::Expressions(_, section) => section.count(),
                    };
                    self.startup(u64::from(count) * STEPS_PER_ELEMENT)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn items(&mut self, count: u32) -> Result<(), Fault> {
        self.items += u64::from(count);
        within("types, imports, exports and the like", self.items, self.bounds.items)
    }

    fn segment(&mut self, expression: &ConstExpr<'_>) -> Result<(), Fault> {
        let size = expression.get_binary_reader().bytes_remaining();
        self.startup(STEPS_PER_ELEMENT + STEPS_PER_OPERATOR * size as u64)
    }

    fn startup(&mut self, steps: u64) -> Result<(), Fault> {
        self.startup_steps += steps;
        if self.startup_steps > self.bounds.function_steps {
            return Err(Fault::Complex(Excess::Startup {
                steps: self.startup_steps,
                limit: self.bounds.function_steps,
            }));
        }
        self.add(steps)
    }

    fn add(&mut self, steps: u64) -> Result<(), Fault> {
        self.steps += steps;
        within("steps of compilation", self.steps, self.bounds.steps)
    }

    /// Validates a function and counts its steps.
    fn function(
        &mut self,
        function: FuncToValidate<ValidatorResources>,
        body: &FunctionBody<'_>,
        allocations: FuncValidatorAllocations,
    ) -> Result<FuncValidatorAllocations, Fault> {
        let (size, limit) = (body.range().len() as u64, self.bounds.function_size);
        if size > limit {
            return Err(Fault::Complex(Excess::FunctionSize { size, limit }));
        }
        let mut validator = function.into_validator(allocations);
        validator.read_locals(&mut body.get_binary_reader()).map_err(invalid)?;
        let mut operators = body.get_operators_reader().map_err(invalid)?;
        let mut function = FunctionCount::new(&validator);
        while !operators.eof() {
            let (operator, offset) = operators.read_with_offset().map_err(invalid)?;
            // Before it is validated, because that takes a step for each value of each target as well.
            function.add(&operator, &validator);
            let (steps, limit) = (function.steps(), self.bounds.function_steps);
            if steps > limit {
                let FunctionCount { edges, used_count: locals, .. } = function;
                return Err(Fault::Complex(Excess::Function {
                    function: validator.index(),
                    steps,
                    limit,
                    locals,
                    edges,
                }));
            }
            validator.op(offset, &operator).map_err(invalid)?;
        }
        operators.finish().map_err(invalid)?;
        self.add(function.steps())?;
        Ok(validator.into_allocations())
    }
}

/// The steps of one function, as far as it was read.
struct FunctionCount {
    /// Of operators, without what the locals take.
    steps: u64,
    /// From one basic block to another.
    edges: u64,
    loops: u64,
    deep_loops: u64,
    /// Whether each open block is a loop.
    open: Vec<bool>,
    open_loops: usize,
    used: Vec<bool>,
    /// The locals that are used, and those of the compiler.
    used_count: u64,
}

impl FunctionCount {
    fn new(validator: &FuncValidator<ValidatorResources>) -> Self {
        let locals = validator.len_locals();
        let signature = validator.label_block(0).and_then(|(block, _)| validator.block_type_arity(block));
        let (parameters, results) = signature.unwrap_or_default();
        Self {
            steps: u64::from(locals) + signature_steps(parameters as usize, results as usize),
            edges: 1,
            loops: 0,
            deep_loops: 0,
            open: Vec::new(),
            open_loops: 0,
            used: vec![false; locals as usize],
            used_count: OWN_LOCALS,
        }
    }

    fn add(&mut self, operator: &Operator<'_>, before: &FuncValidator<ValidatorResources>) {
        let (popped, pushed) = operator.operator_arity(before).unwrap_or_default();
        let values = u64::from(popped) + u64::from(pushed);
        self.steps += STEPS_PER_OPERATOR;
        let edges = match operator {
            Operator::Block { .. } => {
                self.open.push(false);
                1
            }
            Operator::Loop { .. } => {
                self.steps += STEPS_PER_LOOP;
                self.loops += 1;
                self.deep_loops += u64::from(self.open_loops >= DEEP);
                self.open.push(true);
                self.open_loops += 1;
                1
            }
            Operator::If { .. } => {
                self.open.push(false);
                2
            }
            Operator::End => {
                self.open_loops -= usize::from(self.open.pop() == Some(true));
                1
            }
            Operator::Else | Operator::Br { .. } | Operator::Return => 1,
            Operator::BrIf { .. } => 2,
            Operator::BrTable { targets } => {
                self.steps += STEPS_PER_TARGET * u64::from(targets.len());
                u64::from(targets.len()) + 1
            }
            Operator::Call { .. } | Operator::ReturnCall { .. } => {
                self.steps += STEPS_PER_CALL + STEPS_PER_CALL_VALUE * values;
                0
            }
            Operator::CallIndirect { .. } | Operator::ReturnCallIndirect { .. } => {
                self.steps += STEPS_PER_CALL + STEPS_PER_CALL_VALUE * values;
                // The entry of a table is computed at its first use.
                2
            }
            Operator::MemoryGrow { .. }
            | Operator::MemoryCopy { .. }
            | Operator::MemoryFill { .. }
            | Operator::MemoryInit { .. }
            | Operator::DataDrop { .. }
            | Operator::ElemDrop { .. }
            | Operator::RefFunc { .. }
            | Operator::TableGet { .. }
            | Operator::TableSet { .. }
            | Operator::TableGrow { .. }
            | Operator::TableCopy { .. }
            | Operator::TableFill { .. }
            | Operator::TableInit { .. } => {
                self.steps += STEPS_PER_HOST_CALL;
                6
            }
            Operator::LocalGet { local_index: local }
            | Operator::LocalSet { local_index: local }
            | Operator::LocalTee { local_index: local } => {
                if let Some(used) = self.used.get_mut(*local as usize)
                    && !std::mem::replace(used, true)
                {
                    self.used_count += 1;
                }
                0
            }
            _ => 0,
        };
        self.edges += edges;
        self.steps += edges * (values + u64::from(before.operand_stack_height())) / VALUES_PER_STEP;
    }

    fn steps(&self) -> u64 {
        let in_loops = STEPS_PER_LOOP_LOCAL * self.loops + STEPS_PER_DEEP_LOOP_LOCAL * self.deep_loops;
        let of_locals = self.used_count * (self.edges / VALUES_PER_STEP + in_loops);
        self.steps + of_locals + self.loops * self.loops / LOOP_PAIRS_PER_STEP
    }
}

/// The steps of a function with so many parameters and results, without its code.
fn signature_steps(parameters: usize, results: usize) -> u64 {
    let values = (parameters + results) as u64;
    STEPS_PER_FUNCTION + 10 * values + values * values / 100
}

fn within(what: &'static str, count: u64, limit: u64) -> Result<(), Fault> {
    if count > limit { Err(Fault::Complex(Excess::Count { what, count, limit })) } else { Ok(()) }
}

#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn invalid(error: wasmparser::Error) -> Fault {
    Fault::Invalid(error.message().to_owned())
}

#[cfg(test)]
mod tests;
