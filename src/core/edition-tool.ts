/**
 * What an edition is made of (DESIGN §4): one immutable compiled version of a toolset, its tools under their final names, and the pointer that
 * names it. Compiling one is `edition.ts`.
 */
import type { EntryArguments, EntryResult } from './entry-rules.ts';
import type { Hold } from './listing/hold.ts';
import type { MadeBy } from './made-tool.ts';
import type { CanonicalName, WireName } from './names.ts';
import type { JsonSchema, ToolAnnotations, ToolKind } from './tool.ts';
import type { AliasMode, Announce } from './toolset.ts';
import type { UiTool } from './ui-tool.ts';

export type EditionAlias = { name: string; mode: AliasMode; note?: string };

export type EditionTool = {
  canonical: CanonicalName;
  wireName: WireName;
  /** The tool's own name at its source. */
  ownName: string;
  server: string;
  kind: ToolKind;
  /** As the model reads it: override or source text, with the entry's notes beneath, without announced aliases. */
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
  /** As written, the one that became the wire name included. */
  aliases: EditionAlias[];
  /** The entry's own word on asking; absent: as the policy says. */
  approval?: 'never' | 'always';
  /** What the entry makes of the arguments; `inputSchema` is then what the model sees, `sourceSchema` the tool's own. */
  arguments?: EntryArguments;
  sourceSchema?: JsonSchema;
  result?: EntryResult;
  /** Its server is trusted: all its annotations count. */
  trusted?: true;
  /** An administrator accepted the annotations of the definition that `pin` is the hash of. */
  annotationsAccepted?: true;
  alwaysOffered?: true;
  ui?: UiTool;
  /** Of a made tool that can run. */
  made?: MadeCode;
  /** `missing`: its server does not list it (any more). `held`: until somebody accepts. Both are listed, and not callable. */
  state: 'ready' | 'missing' | 'held';
  held?: Hold;
  /** Of a missing one: the tool that has its definition now. */
  renamedTo?: string;
  /** SHA-256 (hex) of the raw definition at the time of the write; `''` where there was none. */
  pin: string;
};

/**
 * What an edition holds of a made tool: with it the tool runs, and nothing else is asked. `uses`: the tools that it may call, as they are
 * at their source, without any toolset's presets; made tools among them have their own.
 */
export type MadeCode = MadeBy & { implementation: string; uses: readonly EditionTool[] };

/** Whether models are offered it, told of it and may call it: not while it is held or missing, and never what is shown to a person. */
export function isForModels({ state, kind }: Pick<EditionTool, 'state' | 'kind'>): boolean {
  return state === 'ready' && kind !== 'ui';
}

export type Edition = {
  format: 1;
  workspace: string;
  toolset: string;
  announce: Announce;
  /** Absent: the default. */
  onDemandAbove?: number;
  /** Of trusted servers that have tools here, in the order of those. */
  instructions?: { server: string; text: string }[];
  tools: EditionTool[];
};

/** Names one immutable edition; small enough to be read often. `revision` counts re-publishes of one document version. */
export type EditionPointer = { toolset: string; version: number; revision: number; hash: string };
