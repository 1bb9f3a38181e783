/**
 * Converts a tool's input schema (any JSON Schema 2020-12 or what is called that) to what one provider accepts, and reports every change. A
 * schema that cannot be converted has a fault, and only its tool is skipped. The passes: expand references (`schema-references.ts`), make
 * the root an object (`schema-root.ts`), narrow the parts to the dialect (`schema-narrow.ts`), and drop details if it is too large
 * (`schema-size.ts`). Deterministic; never changes the given object, and returns it if no change is needed.
 */
import { getOrBuild, memoizeByObject } from '../memoize.ts';
import { limits } from '../limits.ts';
import type { SchemaDialect } from '../model/provider-profile.ts';
import { dialectRules } from './schema-dialects.ts';
import { narrowToDialect } from './schema-narrow.ts';
import { expandReferences } from './schema-references.ts';
import { type SchemaChange, SchemaReport } from './schema-report.ts';
import { toObjectSchema } from './schema-root.ts';
import { hasMoreParts, simplifications } from './schema-size.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { utf8Length } from '../text/utf8.ts';
import { isRecord } from '../json/wire-value.ts';

/** How often a recursive schema is expanded: models rarely nest deeper, and each level may multiply its size. */
const maxSchemaRecursion = 3;
/** Keywords and fields of one schema that are combined for its alternatives: under 0.1 s in the worst case. */
const maxSchemaEffort = 50_000;

/** `fault` completes "its input schema …". */
export type CompiledSchema = { ok: true; schema: JsonSchema; changes: readonly SchemaChange[] } | { ok: false; fault: string };

/** The cost of compiling, in visited parts; equal for cached results. */
export type CompileCost = { parts: number };

/** Compiles once per schema object, since definitions live as long as their edition. Adds the cost to `spent`. */
export function compileSchema(schema: JsonSchema, dialect: SchemaDialect, spent: CompileCost = { parts: 0 }): CompiledSchema {
  if (!isRecord(schema)) return { ok: false, fault: 'is not a JSON Schema' };
  const { result, parts } = getOrBuild(compiledFor(schema), dialect, Number.POSITIVE_INFINITY, () => {
    const own = { parts: 0 };
    return { result: compile(schema, dialect, own), parts: own.parts };
  });
  spent.parts += parts;
  return result;
}

const compiledFor = memoizeByObject((_schema: JsonSchema) => new Map<SchemaDialect, { result: CompiledSchema; parts: number }>());

function compile(schema: JsonSchema, dialect: SchemaDialect, spent: CompileCost): CompiledSchema {
  if (hasMoreParts(schema, limits.maxSchemaSourceParts)) return { ok: false, fault: `has more than ${limits.maxSchemaSourceParts} parts` };
  for (let recursion: number = maxSchemaRecursion; ; recursion -= 1) {
    const report = new SchemaReport();
    const tree = expandReferences(schema, recursion, report);
    if (tree.isCut) spent.parts += limits.maxSchemaParts;
    // With fewer levels of recursion, more of the rest may fit.
    if (tree.isCut && tree.isRecursive && recursion > 1) continue;
    const attempt = compileTree(tree.schema, dialect, report, spent);
    if (attempt.ok && isTooLarge(attempt.schema)) {
      if (tree.isRecursive && recursion > 1) continue;
      return isRecord(tree.schema) ? simplify(tree.schema, dialect, report, spent) : tooLarge;
    }
    return attempt;
  }
}

/** `written`: the report so far. Each attempt starts from a copy, so that failed attempts leave no entries. */
function compileTree(tree: JsonSchema | boolean, dialect: SchemaDialect, written: SchemaReport, spent: CompileCost): CompiledSchema {
  const rules = dialectRules[dialect];
  const report = new SchemaReport(written);
  const narrowing = { rules, report, parts: 0, effort: { left: maxSchemaEffort }, done: new Map() };
  const root = toObjectSchema(tree, narrowing);
  if (typeof root === 'string') return { ok: false, fault: root };
  const schema = narrowToDialect(narrowing, root, { path: '', depth: 0 });
  spent.parts += narrowing.parts + (maxSchemaEffort - narrowing.effort.left) / effortPerPart;
  if (schema === false) return { ok: false, fault: 'accepts no object' };
  return { ok: true, schema, changes: report.changes() };
}

/** The effort per part, calibrated to similar cost. */
const effortPerPart = 10;

function simplify(tree: JsonSchema, dialect: SchemaDialect, report: SchemaReport, spent: CompileCost): CompiledSchema {
  // Tries the smallest version first: most schemas that are too large are too large because of their fields alone.
  const least = compileTree(
    simplifications.reduce((schema, { apply }) => apply(schema), tree),
    dialect,
    report,
    spent,
  );
  if (!least.ok || isTooLarge(least.schema)) return tooLarge;
  let simple = tree;
  for (const { message, apply } of simplifications) {
    simple = apply(simple);
    report.add('', message);
    const attempt = compileTree(simple, dialect, report, spent);
    if (!attempt.ok || !isTooLarge(attempt.schema)) return attempt;
  }
  return tooLarge;
}

const tooLarge: CompiledSchema = { ok: false, fault: `is larger than ${limits.maxSchemaBytes / 1024} KB, even without descriptions` };

function isTooLarge(schema: JsonSchema): boolean {
  return utf8Length(JSON.stringify(schema)) > limits.maxSchemaBytes;
}
