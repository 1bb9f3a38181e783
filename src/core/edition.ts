/**
 * An edition: one immutable compiled version of a toolset, keyed by the SHA-256 of its bytes (DESIGN §4). It holds
 * neutral definitions and final names; lookup tables are built from it in the isolate (`alias-map.ts`), provider forms
 * lazily by the adapters.
 */
import type { CanonicalName, WireName } from './names.ts';
import type { AliasMode, Announce } from './toolset.ts';
import type { JsonSchema, ToolAnnotations, ToolKind } from './tool.ts';

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
  aliases: EditionAlias[];
  /** `missing`: a known server that was never listed. Listed, not callable. */
  state: 'ready' | 'missing' | 'held';
  /** SHA-256 (hex) of the raw definition at the time of the write. */
  pin: string;
};

export type Edition = {
  format: 1;
  workspace: string;
  toolset: string;
  announce: Announce;
  tools: EditionTool[];
};

/** Names one immutable edition; small enough to be read often. `revision` counts re-publishes of one document version. */
export type EditionPointer = { toolset: string; version: number; revision: number; hash: string };

export type ToolsetWarning = { path: string; message: string };
