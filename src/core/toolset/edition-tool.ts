/**
 * The parts of an edition (contract §4): one immutable compiled version of a toolset, its tools under their final names, and the
 * pointer that names it. `edition.ts` compiles it.
 */
import type { EntryCache, TargetChoice } from './entries/entry-targets.ts';
import type { EntryArguments, EntryResult, Announce, McpTools, StandsFor } from './toolset.ts';
import type { AliasMode } from '../names/toolset-alias.ts';
import type { OfferSelection } from './offer-entry.ts';
import type { EditionSkill } from './edition-skill.ts';
import type { Hold } from '../tools/hold.ts';
import type { MadeBy } from '../tools/made-tool.ts';
import { isRecord } from '../json/wire-value.ts';
import { fold } from '../names/fold.ts';
import type { Via } from '../model/message.ts';
import type { CanonicalName, WireName } from '../names/names.ts';
import type { OfferMethod } from '../tools/upstream-method.ts';
import {
  isServerKind,
  type JsonSchema,
  type ToolAnnotations,
  type ToolKind,
  type ToolPresentation,
  type ToolSource,
} from '../tools/tool.ts';
import type { UiTool } from '../tools/ui-tool.ts';

export type EditionAlias = { name: string; mode: AliasMode; note?: string };

export type EditionTool = {
  canonical: CanonicalName;
  wireName: WireName;
  /** The name of the tool at its source. */
  ownName: string;
  server: string;
  kind: ToolKind;
  /** The description sent to models: the override or the source text, followed by the notes of the entry, without announced aliases. */
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
  /** The configured aliases, including the one that became the wire name. */
  aliases: EditionAlias[];
  /** The approval setting of the entry; absent: the policy decides. */
  approval?: 'never' | 'always';
  /** The argument rules of the entry. With them, `inputSchema` is what the model sees and `sourceSchema` is the tool's own schema. */
  arguments?: EntryArguments;
  sourceSchema?: JsonSchema;
  result?: EntryResult;
  /** Of the entry (`core/tools/tool-price.ts`). */
  price?: number;
  /** Of a tool in code: earlier names of its arguments, which calls may still use. */
  renamed?: Readonly<Record<string, string>>;
  /** For how long, and for whom, a result answers equal calls. Absent: results are not stored. */
  cache?: EntryCache;
  /**
   * Of an entry with several targets, of which this tool is the first. `others`: under the same names and rules, with the schema and state of each;
   * their `inputSchema` is the shown one, too.
   */
  targets?: { choose: TargetChoice; others: readonly EditionTool[] };
  /** The server of the tool is trusted, so all its annotations apply. */
  trusted?: true;
  /** An administrator accepted the annotations of the definition whose hash is `pin`. */
  annotationsAccepted?: true;
  alwaysOffered?: true;
  standsFor?: StandsFor;
  /** Of a client’s tool: the provider is to enforce the schema. */
  strict?: true;
  /** For MCP clients. */
  presentation?: ToolPresentation;
  ui?: UiTool;
  /** For a made tool that can run. */
  made?: MadeCode;
  /**
   * `missing`: the server does not list the tool (any more). `held`: waiting for an administrator to accept it. Both are listed, but
   * cannot be called.
   */
  state: 'ready' | 'missing' | 'held';
  held?: Hold;
  /** For a missing tool: the tool that has its definition now. */
  renamedTo?: string;
  /** SHA-256 (hex) of the raw definition when it was stored; `''` if there was none. */
  pin: string;
  /**
   * For a request of an MCP client that is not a call of a tool (`engine/mcp/request-offer.ts`); in no edition. `name`: what it is about, as in rules of
   * the policy.
   */
  offer?: { method: OfferMethod; kind: 'resource' | 'prompt'; name: string };
};

/**
 * The part of a made tool that is stored in an edition: it is sufficient to run the tool. `uses`: the tools that it may call, in
 * their original form, without presets of any toolset. Made tools among them have their own `made`.
 */
export type MadeCode = MadeBy & { implementation: string; uses: readonly EditionTool[] };

/** Returns all tools that a call of the entry may run. */
export function targetTools(tool: EditionTool): readonly EditionTool[] {
  return tool.targets === undefined ? [tool] : [tool, ...tool.targets.others];
}

/**
 * Whether the tool is offered to models, announced to them and callable by them. False for held and missing tools, for UI tools, and for those
 * of the pages of MCP apps.
 */
export function isForModels(tool: Pick<EditionTool, 'state' | 'kind' | 'presentation'>): boolean {
  return tool.state === 'ready' && tool.kind !== 'ui' && !isForAppsOnly(tool);
}

/** Whether only the page of an MCP app calls the tool (ext-apps 2026-01-26, `_meta.ui.visibility`; absent: models, too). */
export function isForAppsOnly({ presentation }: Pick<EditionTool, 'presentation'>): boolean {
  const ui = presentation?.meta?.ui;
  const visibility = isRecord(ui) ? ui.visibility : undefined;
  return Array.isArray(visibility) && !visibility.includes('model');
}

/** Why models are not offered such a tool. */
export const onlyForApps = 'its server lists it only for the page of an MCP app, not for models';

export type Edition = {
  format: 1;
  workspace: string;
  toolset: string;
  announce: Announce;
  /** Absent: the default. */
  onDemandAbove?: number;
  /** Absent: `list`. */
  mcpTools?: McpTools;
  /** Instructions of the trusted servers that have tools here, in the order of the tools. */
  instructions?: { server: string; text: string }[];
  tools: EditionTool[];
  skills?: EditionSkill[];
} & OfferSelection;

/** Names one immutable edition; small enough to be read often. `revision` counts republications of one document version. */
export type EditionPointer = { toolset: string; version: number; revision: number; hash: string };

/**
 * What applies to every version of a toolset, whatever its editions say. `retired`: versions that cannot be used; `revoked`: canonical names of
 * tools that cannot be called. Absent: none. `build`: whose tools in code its newest edition was compiled with (`core/tools/code-tools.ts`); absent: not known. `stale`: why
 * the edition is of an earlier build nevertheless, and stays so.
 */
export type ToolsetStanding = { retired?: readonly number[]; revoked?: readonly string[]; build?: string; stale?: string };

/** Whether a tool of a server only reads, as far as its annotations apply. */
export function onlyReads(tool: Pick<EditionTool, 'kind' | 'annotations' | 'trusted' | 'annotationsAccepted'>): boolean {
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  return isServerKind(tool.kind) && readOnlyHint === true && destructiveHint !== true && trustsAnnotations(tool);
}

// Which annotations of a tool apply. Annotations of an untrusted server are only claims: the policy, retries and hints for clients ignore
// them until an administrator accepts them. Tool names are not evaluated, since no list of verbs can be complete.

/**
 * Whether the policy uses the annotations. For `static` tools an administrator wrote them, in the PUT of the server; for `openapi`
 * tools they follow from the HTTP method (`openapi/operation-tool.ts`), not from the document.
 */
export function trustsAnnotations({ kind, ...rest }: Pick<EditionTool, 'kind' | 'trusted' | 'annotationsAccepted'>): boolean {
  return kind !== 'mcp' || isEndorsed(rest);
}

/** Whether a call is safe to repeat, according to annotations that an administrator endorsed. */
export function isRepeatable({ annotations, ...rest }: Pick<EditionTool, 'annotations' | 'trusted' | 'annotationsAccepted'>): boolean {
  return isEndorsed(rest) && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true);
}

/** Whether the server is trusted, or an administrator accepted the annotations of this definition. */
export function isEndorsed({ trusted, annotationsAccepted }: Pick<EditionTool, 'trusted' | 'annotationsAccepted'>): boolean {
  return trusted === true || annotationsAccepted === true;
}

/** Returns the trust fields of a server's tool. */
export function trustOf(source: ToolSource | undefined): Pick<EditionTool, 'trusted' | 'annotationsAccepted'> {
  return {
    ...(source?.trusted === true && { trusted: true as const }),
    ...(source?.annotationsAccepted === true && { annotationsAccepted: true as const }),
  };
}

/** Returns the state fields of a tool; tools without a server are ready. */
export function stateOf(source: ToolSource | undefined): Pick<EditionTool, 'state' | 'held' | 'renamedTo'> {
  return {
    state: source?.state ?? 'ready',
    ...(source?.held !== undefined && { held: source.held }),
    ...(source?.renamedTo !== undefined && { renamedTo: source.renamedTo }),
  };
}

/** A call by the name `requested`, which resolved to the tool. */
type NamedCall = { requested: string; via: Via; tool: EditionTool };

/**
 * Returns the alias that a call used; undefined if it used none. In another spelling, visible names take precedence over aliases, and aliases
 * that are not deprecated over deprecated ones.
 */
export function calledAlias({ via, requested, tool }: NamedCall): EditionAlias | undefined {
  if (via === 'alias' || via === 'wire') return tool.aliases.find(({ name }) => name === requested);
  if (via !== 'folded') return undefined;
  const folded = fold(requested);
  if ([tool.wireName, tool.canonical, tool.ownName].some((name) => fold(name) === folded)) return undefined;
  const fitting = tool.aliases.filter(({ name }) => fold(name) === folded);
  return fitting.find(({ mode }) => mode !== 'deprecated') ?? fitting[0];
}

/** Returns what a caller of a deprecated alias should do instead; null if there is nothing to report. */
export function deprecationOf(call: NamedCall): { name: string; note: string } | null {
  const alias = calledAlias(call);
  return alias?.mode === 'deprecated' ? { name: alias.name, note: alias.note ?? `use ${call.tool.wireName}` } : null;
}
