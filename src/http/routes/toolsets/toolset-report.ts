/**
 * A toolset as one provider receives it, with its tokens and possible improvements: every definition, every change made for that provider,
 * and advice. Computed from the edition alone and cached with it. Used by `GET …/tools`.
 */
import * as z from 'zod';
import { getOrBuild, memoizeByObject } from '../../../core/memoize.ts';
import { configuredEntry, type AliasMap } from '../../../core/toolset/alias-map.ts';
import { isForModels, onlyForApps, type EditionTool } from '../../../core/toolset/edition-tool.ts';
import { describeHold, Hold } from '../../../core/tools/hold.ts';
import { countWarnings, lintTools } from '../../../core/toolset/lint.ts';
import { whyMissing } from '../../../core/toolset/known-tools.ts';
import { isOnDemand, type OfferedName, offeredTools, sentTools } from '../../../core/turn/offered-tools.ts';
import { joinParagraphs } from '../../../core/text/paragraphs.ts';
import type { ProviderAccess } from '../../../core/model/provider.ts';
import { toolPrompt } from '../../../core/turn/system-prompt.ts';
import { ToolKind } from '../../../core/tools/tool.ts';
import { charactersPerToken } from '../../../core/limits/units.ts';
import { turnNames } from '../../../engine/plan/plan-names.ts';
import type { ToolChange } from '../../../providers/tool-definitions.ts';
import { type WireToolNames, addWireNames, toWireText, assignWireNames } from '../../../providers/wire-tool-names.ts';
import { aliasNames, ToolState } from './toolset-names.ts';
import { firstWarnings, type Warning } from '../../../core/problem.ts';

/** Not a model's own tokenizer: those differ, and an estimate is enough to choose tools. */
export const tokenizer = `estimate: one token per ${charactersPerToken} characters sent`;
export const estimatedTokens = z.int().meta({ description: 'Estimated by `tokenizer`.' });

/** Cached provider reports of one edition: each is about as large as the edition. */
const maxCachedReports = 4;

/**
 * `access` null: the text protocol, for any provider. `model` '': properties that apply to all models of the provider. `codeMode`: as for
 * agents with it.
 */
export type ReportTarget = { provider: string; access: ProviderAccess | null; model: string; codeMode?: boolean };

export type ToolsetReport = {
  tools: ToolReport[];
  /** Tokens sent with the first step: definitions and prompt. */
  tokens: number;
  promptTokens: number;
  prompt: string | null;
  warnings: Warning[];
};

export const ToolReport = z.object({
  canonical: z.string(),
  wireName: z.string(),
  aliases: z.array(z.string()),
  kind: ToolKind,
  state: ToolState,
  entry: z.string().nullable().meta({
    description: 'Its path in the document, `tools[i]`; null: added automatically, because most tools are loaded on demand.',
  }),
  definition: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: "As sent in the body of this provider's API; null: not sent, and `left` has the reason." }),
  tokens: estimatedTokens,
  changes: z.array(z.object({ path: z.string(), message: z.string() })).meta({
    description: "Differences from the toolset: `path` is a JSON Pointer into the tool's input schema, '' means the tool itself.",
  }),
  onDemand: z.literal(true).optional().meta({ description: 'Not sent initially, but after it was found with `find_tools` or called.' }),
  left: z.string().optional().meta({ description: 'Why it is not sent.' }),
  hiddenArguments: z.array(z.string()).optional().meta({ description: 'Preset arguments, which are removed from the definition.' }),
  held: Hold.optional(),
  renamedTo: z.string().optional().meta({ description: 'For a missing tool: the tool that now has its definition.' }),
});
export type ToolReport = z.infer<typeof ToolReport>;

/** `names`: the part of the edition that the key may use. */
export function reportTools(names: AliasMap, recipient: ReportTarget): ToolsetReport {
  const { provider, access, model, codeMode = false } = recipient;
  // All that a definition depends on; an access itself is rebuilt occasionally and contains keys.
  const key = JSON.stringify([provider, model, codeMode, access?.kind, access?.baseUrl, access?.profile]);
  return getOrBuild(reportsOf(names), key, maxCachedReports, () => buildReport(names, recipient));
}

const reportsOf = memoizeByObject((_names: AliasMap) => new Map<string, ToolsetReport>());

function buildReport(names: AliasMap, recipient: ReportTarget): ToolsetReport {
  const offer = recipient.codeMode === true ? codeOffer(names) : offerOf(names);
  const first = show(recipient, offer.first, assignWireNames);
  const later = show(recipient, offer.later, addWireNames);
  const places = new Map(names.edition.tools.map((tool, index) => [tool, `tools[${index}]`]));
  const tools = [
    ...offer.first.map((offered) => sentRow(offered, places, first)),
    ...offer.later.map((offered): ToolReport => ({ ...sentRow(offered, places, later), onDemand: true })),
    ...names.tools.filter((tool) => !isForModels(tool) || offer.inCode(tool)).map((tool) => unsentRow(tool, places)),
  ];
  const prompt = joinParagraphs(toolPrompt(offer.names), first.prompt);
  const promptTokens = estimateTokens(prompt);
  // Tools described in the prompt are counted there.
  const definitions = first.prompt === null ? tools.slice(0, offer.first.length) : [];
  return {
    tools,
    tokens: definitions.reduce((sum, { tokens }) => sum + tokens, promptTokens),
    promptTokens,
    prompt: prompt === '' ? null : prompt,
    warnings: [
      ...stateWarnings(tools),
      // Tools described in the prompt are not missing.
      ...leftWarnings(tools.slice(0, offer.first.length + offer.later.length), recipient.provider),
      ...countWarnings(offer.first.length),
      ...adviceOn(names),
      ...changeWarnings(tools, recipient.provider),
    ],
  };
}

/**
 * Returns the tools that a turn sends at its first step, and those that it can find. `names`: with `find_tools` and `fetch_result`, if the
 * turn has them.
 */
function offerOf(names: AliasMap): Offer {
  const inCode = (): boolean => false;
  if (!isOnDemand(names)) return { names, first: offeredTools(names), later: [], inCode };
  const offered = turnNames(names, { aliases: names.aliases, allow: null }) ?? names;
  const first = sentTools(offered);
  const sent = new Set(first.map(({ name }) => name));
  return { names: offered, first, later: offeredTools(names).filter(({ name }) => !sent.has(name)), inCode };
}

/** `inCode`: sent in the prompt, as a declaration, a name or a count. */
type Offer = {
  names: AliasMap;
  first: readonly OfferedName[];
  later: readonly OfferedName[];
  inCode(tool: EditionTool): boolean;
};

function codeOffer(names: AliasMap): Offer {
  const offered = turnNames(names, { aliases: names.aliases, allow: null, codeMode: true }) ?? names;
  const first = sentTools(offered);
  const sent = new Set(first.map(({ tool }) => tool));
  return { names: offered, first, later: [], inCode: (tool) => isForModels(tool) && !sent.has(tool) };
}

function show({ access, model }: ReportTarget, tools: readonly OfferedName[], by: typeof assignWireNames): WireToolNames {
  return access === null ? toWireText(tools) : by(access, model, tools);
}

/** The same for every provider. */
const adviceOn = memoizeByObject((names: AliasMap): readonly Warning[] => lintTools(names.tools));

type Places = ReadonlyMap<EditionTool, string>;

function sentRow({ name, tool }: OfferedName, places: Places, { definitions, changes, left }: WireToolNames): ToolReport {
  const definition = definitions.get(name) ?? null;
  const why = left.get(name);
  return {
    ...rowOf(tool, places),
    wireName: name,
    definition,
    tokens: definition === null ? 0 : estimateTokens(JSON.stringify(definition)),
    changes: [...(changes.get(name) ?? [])],
    ...(why !== undefined && { left: why }),
  };
}

function unsentRow(tool: EditionTool, places: Places): ToolReport {
  return { ...rowOf(tool, places), left: whyUnsent(tool) };
}

function whyUnsent(tool: EditionTool): string {
  const { kind, state, held, renamedTo } = tool;
  if (kind === 'ui') return 'it is proposed to users, and never sent to a model';
  if (isForModels(tool)) return 'it is called from the code of run_code, and described in the prompt';
  if (state === 'held') return describeHold(held);
  if (state === 'ready') return onlyForApps;
  return `${whyMissing(tool)}${renamedTo === undefined ? '' : `; ${renamedTo} has its definition now`}`;
}

function rowOf(tool: EditionTool, places: Places): ToolReport {
  const { canonical, wireName, kind, state, held, renamedTo } = tool;
  const hidden = Object.keys(tool.arguments?.preset ?? {});
  return {
    canonical,
    wireName,
    aliases: aliasNames(tool),
    kind,
    state,
    entry: places.get(configuredEntry(tool)) ?? null,
    definition: null,
    tokens: 0,
    changes: [],
    ...(hidden.length > 0 && { hiddenArguments: hidden }),
    ...(held !== undefined && { held }),
    ...(renamedTo !== undefined && { renamedTo }),
  };
}

function estimateTokens(text: string): number {
  return Math.ceil(text.length / charactersPerToken);
}

function stateWarnings(tools: readonly ToolReport[]): Warning[] {
  const stopped = tools.filter(({ state, kind }) => state !== 'ready' && kind !== 'ui');
  return firstWarnings(
    stopped.map(({ entry, canonical, left }) => ({ path: `${entry}.tool`, message: `${canonical} cannot be called: ${left}` })),
    'tools that cannot be called',
  );
}

function leftWarnings(tools: readonly ToolReport[], provider: string): Warning[] {
  const unsent = tools.filter(({ state, kind, left }) => state === 'ready' && kind !== 'ui' && left !== undefined);
  return firstWarnings(
    unsent.map(({ entry, canonical, wireName, left }) => {
      return {
        path: entry === null ? 'tools' : `${entry}.tool`,
        message: `${canonical} is not sent to ${provider} as ${wireName}: ${left}`,
      };
    }),
    `tools that are not sent to ${provider}`,
  );
}

/** Warnings about what schemas and texts lose for the provider, by kind, most frequent first. Each tool lists its changes one by one. */
function changeWarnings(tools: readonly ToolReport[], provider: string): Warning[] {
  const kinds = new Map<string, { places: number; tools: Set<string> }>();
  for (const { wireName, changes } of tools) {
    for (const change of changes) {
      if (losesNothing.some((pattern) => pattern.test(change.message))) continue;
      const kind = kinds.get(kindOf(change)) ?? { places: 0, tools: new Set<string>() };
      kinds.set(kindOf(change), kind);
      kind.places += 1;
      kind.tools.add(wireName);
    }
  }
  const commonest = [...kinds].sort(([, a], [, b]) => b.places - a.places);
  return firstWarnings(
    commonest.map(([kind, { places, tools }]) => {
      const [first = ''] = tools;
      const where = tools.size === 1 ? first : `${tools.size} tools, such as ${first}`;
      return { path: 'tools', message: `for ${provider}: ${kind} (${places === 1 ? 'once' : `${places} times`}, in ${where})` };
    }),
    `kinds of change for ${provider}`,
  );
}

/** Changes without loss: shown with the tool, but not a warning. */
const losesNothing: readonly RegExp[] = [
  /: an empty list of fields is added$/,
  / (?:is|are) expanded\b/,
  /^removed: the schema is converted to draft 2020-12$/,
  /^an OpenAPI keyword: true is converted to the type null$/,
  /^a list of schemas is converted to prefixItems$/,
  /^converted to an enum with one choice$/,
  /^converted to an object, because arguments are an object$/,
];

/** For an unsupported keyword, the keyword is the kind; in other cases the last part of the path is an argument's name. */
function kindOf({ path, message }: ToolChange): string {
  return message.startsWith('not supported') ? `\`${path.slice(path.lastIndexOf('/') + 1)}\` is ${message}` : message;
}
