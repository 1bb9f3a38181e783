/**
 * Checks a made tool when it is written, except for the syntax of its code, which the sandbox checks: each error with its path and
 * what to do. A made tool cannot take a name that already has a meaning (SEC-48).
 */
import { aliasName } from '../names/toolset-alias.ts';
import { fold } from '../names/fold.ts';
import { type KnownTools, withTools } from '../toolset/known-tools.ts';
import type { MadeParameter, MadeTool, StoredMadeTool, WrittenMadeTool } from '../tools/made-tool.ts';
import { dependentsOf, madeOwnName, toMadeDefinition } from './made-toolset.ts';
import { CanonicalName, parseAlias } from '../names/names.ts';
import { ownNameOf } from '../toolset/named-entry.ts';
import type { Issue, Warning } from '../problem.ts';
import { cleanDescription } from '../tools/listing-text.ts';
import { isObjectMember, reservedNames } from '../names/reserved-names.ts';
import { utf8Length } from '../text/utf8.ts';
import { limits } from '../limits/limits.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import { boundNames, createLookup, type LookupTool, readUses } from './uses.ts';
import { hasType } from '../schema/schema-parts.ts';

type CheckedMadeTool = { tool: Omit<StoredMadeTool, 'pin'>; issues: Issue[]; warnings: Warning[] };

/**
 * `known`: with or without an earlier version of the tool. `before`: the stored version, whose names stay what they are: what other tools
 * have taken since is a warning.
 */
export function checkMadeTool(
  canonical: string,
  document: WrittenMadeTool,
  known: KnownTools,
  before: StoredMadeTool | null = null,
): CheckedMadeTool {
  const { name: saidName, uses: _uses, names: _names, aliases: given, ...rest } = document;
  const aliases = readAliases(canonical, given ?? [], known, before?.aliases ?? []);
  const taken = takenBy(madeOwnName(canonical), canonical, known);
  const { uses, names, ...read } = readUses(
    document,
    createLookup(known),
    before === null ? undefined : boundNames(before, (use) => known.get(use) ?? goneTool(use)),
  );
  const said = seenTexts(rest);
  const tool = {
    ...said.texts,
    ...(given !== undefined && { aliases: aliases.aliases }),
    uses,
    ...(Object.keys(names).length > 0 && { names }),
  };
  const issues = [
    ...nameFaults(canonical, saidName, before === null ? taken : null),
    ...codeFaults(document.implementation),
    ...(said.texts.description.trim() === '' ? [{ path: 'description', message: 'contains no visible text: say what the tool does' }] : []),
    ...document.parameters.flatMap((parameter, index) => parameterFaults(parameter, index, document.parameters)),
    ...aliases.issues,
    ...read.issues,
    ...wayFaults(canonical, tool, known),
  ];
  const kept = before === null || taken === null ? [] : [{ path: 'name', message: `"${madeOwnName(canonical)}" is also ${taken}` }];
  return { tool, issues, warnings: [...said.warnings, ...kept, ...aliases.warnings, ...read.warnings] };
}

/** A tool that the stored version uses and nothing defines any more. */
function goneTool(canonical: string): LookupTool {
  const { ownName } = ownNameOf({ tool: canonical }, undefined);
  return { canonical: CanonicalName.parse(canonical), name: ownName, kind: 'mcp', aliases: [], source: { state: 'missing' } };
}

type Texts = Pick<MadeTool, 'description' | 'parameters'>;

/**
 * Cleans the texts as those of a server's tools: text that people cannot see is not sent to models. The writer may have copied it
 * from elsewhere (SEC-4).
 */
function seenTexts<Said extends Texts>(said: Said): { texts: Said; warnings: Warning[] } {
  const warnings: Warning[] = [];
  const clean = (text: string, path: string): string => {
    const cleaned = cleanDescription(text);
    for (const { message } of cleaned.findings) warnings.push({ path, message });
    return cleaned.text;
  };
  const description = clean(said.description, 'description');
  const parameters = said.parameters.map((parameter, index) => ({
    ...parameter,
    description: clean(parameter.description, `parameters[${index}].description`),
  }));
  return { texts: { ...said, description, parameters }, warnings };
}

/** `taken`: as returned by `takenBy`. */
function nameFaults(canonical: string, said: string | undefined, taken: string | null): Issue[] {
  const name = madeOwnName(canonical);
  if (said !== undefined && said !== name && said !== canonical)
    return [{ path: 'name', message: `differs from the name in the path, "${name}". Leave it out` }];
  if (isObjectMember(name)) return [{ path: 'name', message: `"${name}" is a member of every JavaScript object. Choose another name` }];
  return taken === null ? [] : [{ path: 'name', message: `"${name}" is ${taken}. Choose another name` }];
}

function codeFaults(implementation: string): Issue[] {
  if (utf8Length(implementation) <= limits.maxImplementationBytes) return [];
  return [{ path: 'implementation', message: `is larger than ${limits.maxImplementationBytes} bytes` }];
}

/** `kept`: the aliases of the stored version. */
function readAliases(
  canonical: string,
  given: readonly string[],
  known: KnownTools,
  kept: readonly string[],
): { aliases: StoredMadeTool['aliases'] & {}; issues: Issue[]; warnings: Warning[] } {
  const issues: Issue[] = [];
  const warnings: Warning[] = [];
  const aliases = new Map<string, NonNullable<StoredMadeTool['aliases']>[number]>();
  for (const [index, text] of given.entries()) {
    const path = `aliases[${index}]`;
    const parsed = parseAlias(text);
    const taken = parsed.ok ? takenBy(parsed.alias, canonical, known) : null;
    const isKept = parsed.ok && kept.includes(parsed.alias);
    if (taken !== null && isKept) warnings.push({ path, message: `"${text}" is also ${taken}` });
    if (!parsed.ok) issues.push({ path, message: parsed.reason });
    else if (taken !== null && !isKept) issues.push({ path, message: `"${parsed.alias}" is ${taken}. Choose another alias` });
    else if (aliases.has(fold(parsed.alias))) issues.push({ path, message: `"${parsed.alias}" is listed twice` });
    else aliases.set(fold(parsed.alias), parsed.alias);
  }
  return { aliases: [...aliases.values()], issues, warnings };
}

/**
 * Returns what already has the name, in any spelling: a built-in tool, an injected tool, another made tool, or any tool's default
 * alias. Own names of server tools are not checked: there are thousands, and toolsets keep them apart.
 */
function takenBy(name: string, canonical: string, known: KnownTools): string | null {
  const folded = fold(name);
  for (const [reserved, owner] of reservedNames) if (fold(reserved) === folded) return `the name of ${owner}`;
  for (const tool of known.all()) {
    if (tool.canonical === canonical || tool.source?.state === 'missing') continue;
    if (ownNamesCount.has(tool.kind) && fold(tool.name) === folded) return `the name of ${tool.canonical}`;
    if (tool.aliases.some((alias) => fold(aliasName(alias)) === folded)) return `an alias of ${tool.canonical}`;
  }
  return null;
}

const ownNamesCount: ReadonlySet<ToolDefinition['kind']> = new Set(['builtin', 'local', 'made']);

function parameterFaults(parameter: MadeParameter, index: number, all: readonly MadeParameter[]): Issue[] {
  const path = `parameters[${index}]`;
  const { name, type, description, default: value } = parameter;
  const first = all.findIndex((other) => other.name === name);
  return [
    ...(first < index ? [{ path: `${path}.name`, message: `"${name}" is already used by parameters[${first}]` }] : []),
    ...(isObjectMember(name)
      ? [{ path: `${path}.name`, message: `"${name}" is a member of every JavaScript object. Choose another name` }]
      : []),
    ...(value !== undefined && !hasType(value, type)
      ? [{ path: `${path}.default`, message: `is not of type ${type}; change the default or leave it out` }]
      : []),
    ...(utf8Length(description) > limits.maxDescriptionBytes
      ? [{ path: `${path}.description`, message: `is larger than ${limits.maxDescriptionBytes} bytes` }]
      : []),
  ];
}

function wayFaults(canonical: string, tool: CheckedMadeTool['tool'], known: KnownTools): Issue[] {
  const next = withTools(known, [toMadeDefinition(canonical, { ...tool, pin: '' })]);
  const cycle = findCycle(canonical, usesIn(next));
  if (cycle !== null) return [{ path: 'uses', message: `it would call itself: ${cycle.join(' → ')}` }];
  const way = tooDeepPath(canonical, next);
  if (way === null) return [];
  return [{ path: 'uses', message: `calls would nest ${way.length} deep; the maximum is ${limits.maxCompositeDepth}: ${way.join(' → ')}` }];
}

// The graph of made tools and the tools they use: no cycles, and no deeper nesting than calls allow (contract §7).

/** Returns the tools that a made tool uses, by canonical name. Any other tool uses none. */
type UsesOf = (canonical: string) => readonly string[];

function usesIn(known: Pick<KnownTools, 'get'>): UsesOf {
  return (canonical) => known.get(canonical)?.made?.uses ?? [];
}

/** Returns the path from the tool back to itself, `made.a → made.b → made.a`; null: there is no cycle. Stored tools nest a few levels only. */
function findCycle(canonical: string, usesOf: UsesOf, way: readonly string[] = [canonical], seen = new Set<string>()): string[] | null {
  for (const use of usesOf(way.at(-1) ?? canonical)) {
    if (use === canonical) return [...way, canonical];
    if (seen.has(use)) continue;
    seen.add(use);
    const found = findCycle(canonical, usesOf, [...way, use], seen);
    if (found !== null) return found;
  }
  return null;
}

/** Returns the longest path down from the tool, starting with it. The graph below it has no cycle. */
function longestPath(canonical: string, usesOf: UsesOf, kept: Map<string, readonly string[]> = new Map()): readonly string[] {
  const known = kept.get(canonical);
  if (known !== undefined) return known;
  let longest: readonly string[] = [];
  for (const use of usesOf(canonical)) {
    const way = longestPath(use, usesOf, kept);
    if (way.length > longest.length) longest = way;
  }
  const found = [canonical, ...longest];
  kept.set(canonical, found);
  return found;
}

/** Returns a path through the tool that is longer than calls allow; null: there is none. */
function tooDeepPath(canonical: string, known: KnownTools): readonly string[] | null {
  const usesOf = usesIn(known);
  const kept = new Map<string, readonly string[]>();
  for (const top of [canonical, ...dependentsOf([canonical], known)]) {
    const way = longestPath(top, usesOf, kept);
    if (way.length > limits.maxCompositeDepth) return way;
  }
  return null;
}
