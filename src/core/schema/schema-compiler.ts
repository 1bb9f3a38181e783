/**
 * A tool's input schema, which is any JSON Schema 2020-12 (or what is met under that name), as one provider takes it; with every change
 * told. A schema that cannot be made into one has a fault, and its tool is left out alone. The passes: references written out
 * (`schema-references.ts`), an object at the top (`schema-root.ts`), the parts narrowed to the dialect (`schema-narrow.ts`), and less said
 * where it is too much (`schema-size.ts`). Deterministic; the given object is never changed, and is the answer where nothing is to change.
 */
import { limits } from '../limits.ts';
import type { SchemaDialect } from '../provider-profile.ts';
import { dialectRules } from './schema-dialects.ts';
import { narrow } from './schema-narrow.ts';
import { writeOut } from './schema-references.ts';
import { type SchemaChange, SchemaReport } from './schema-report.ts';
import { objectRoot } from './schema-root.ts';
import { hasMoreParts, simplifications } from './schema-size.ts';
import type { JsonSchema } from '../tool.ts';
import { utf8Length } from '../utf8.ts';
import { isRecord } from '../wire-value.ts';

/** `fault` goes behind "its input schema". */
export type CompiledSchema = { ok: true; schema: JsonSchema; changes: readonly SchemaChange[] } | { ok: false; fault: string };

/** What compiling took, in parts looked at: the same whether it was done now or before. */
export type Spent = { parts: number };

/** Compiled once for each schema object: definitions live as long as their edition. What it took is added to `spent`. */
export function compileSchema(schema: JsonSchema, dialect: SchemaDialect, spent: Spent = { parts: 0 }): CompiledSchema {
  if (!isRecord(schema)) return { ok: false, fault: 'is no JSON Schema' };
  const known = compiled.get(schema) ?? new Map<SchemaDialect, CompiledOnce>();
  compiled.set(schema, known);
  let once = known.get(dialect);
  if (once === undefined) {
    const own = { parts: 0 };
    once = { result: compile(schema, dialect, own), parts: own.parts };
    known.set(dialect, once);
  }
  spent.parts += once.parts;
  return once.result;
}

type CompiledOnce = { result: CompiledSchema; parts: number };
const compiled = new WeakMap<JsonSchema, Map<SchemaDialect, CompiledOnce>>();

function compile(schema: JsonSchema, dialect: SchemaDialect, spent: Spent): CompiledSchema {
  if (hasMoreParts(schema, limits.maxSchemaSourceParts)) return { ok: false, fault: `has more than ${limits.maxSchemaSourceParts} parts` };
  for (let recursion: number = limits.maxSchemaRecursion; ; recursion -= 1) {
    const report = new SchemaReport();
    const tree = writeOut(schema, recursion, report);
    if (tree.isCut) spent.parts += limits.maxSchemaParts;
    // What contains itself fewer times may say more of everything else.
    if (tree.isCut && tree.isRecursive && recursion > 1) continue;
    const attempt = compileTree(tree.schema, dialect, report, spent);
    if (attempt.ok && isTooLarge(attempt.schema)) {
      if (tree.isRecursive && recursion > 1) continue;
      return isRecord(tree.schema) ? simplify(tree.schema, dialect, report, spent) : tooLarge;
    }
    return attempt;
  }
}

/** `written`: of the way so far; a fresh report is made from it, so that an attempt that comes to nothing leaves no words. */
function compileTree(tree: JsonSchema | boolean, dialect: SchemaDialect, written: SchemaReport, spent: Spent): CompiledSchema {
  const rules = dialectRules[dialect];
  const report = new SchemaReport(written);
  const narrowing = { rules, report, parts: 0, effort: { left: limits.maxSchemaEffort }, done: new Map() };
  const root = objectRoot(tree, narrowing);
  if (typeof root === 'string') return { ok: false, fault: root };
  const schema = narrow(narrowing, root, { path: '', depth: 0 });
  spent.parts += narrowing.parts + (limits.maxSchemaEffort - narrowing.effort.left) / effortPerPart;
  if (schema === false) return { ok: false, fault: 'takes no object' };
  return { ok: true, schema, changes: report.changes() };
}

/** A part costs about as much as so much effort. */
const effortPerPart = 10;

function simplify(tree: JsonSchema, dialect: SchemaDialect, report: SchemaReport, spent: Spent): CompiledSchema {
  // The least that can be said first: most that are too large are so by their fields alone.
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

const tooLarge: CompiledSchema = { ok: false, fault: `is larger than ${limits.maxSchemaBytes / 1024} KB, even with less said` };

function isTooLarge(schema: JsonSchema): boolean {
  return utf8Length(JSON.stringify(schema)) > limits.maxSchemaBytes;
}
