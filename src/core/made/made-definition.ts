/** The definition of a made tool in the workspace, built from its document; toolsets are compiled from it. */
import type { Hold } from '../listing/hold.ts';
import type { MadeParameter, StoredMadeTool } from './made-tool.ts';
import { CanonicalName } from '../names/names.ts';
import type { JsonSchema, ToolDefinition } from '../tools/tool.ts';

export const madeServer = 'made';
const prefix = `${madeServer}.`;

export function madeCanonical(ownName: string): string {
  return prefix + ownName;
}

export function madeOwnName(canonical: string): string {
  return canonical.slice(prefix.length);
}

/** `canonical`: `made.<name>`. `owner`: the key that the tool is private to; absent: it is shared. */
export function toMadeDefinition(canonical: string, tool: StoredMadeTool, owner?: string): ToolDefinition {
  const { description, parameters, implementation, aliases, uses, names, pin } = tool;
  const by = owner ?? tool.by;
  return {
    ...bareDefinition(canonical),
    description,
    inputSchema: parametersSchema(parameters),
    aliases: aliases ?? [],
    source: { state: 'ready', trusted: false, pin },
    made: {
      implementation,
      uses,
      ...(names !== undefined && { names }),
      ...(by !== undefined && { by }),
      ...(owner !== undefined && { private: true as const }),
    },
  };
}

/** The definition of a deleted tool that is still referenced. */
export function toMissingMade(canonical: string): ToolDefinition {
  return { ...bareDefinition(canonical), source: { state: 'missing', trusted: false, pin: '' } };
}

/** The definition of a tool whose stored row differs from what was checked when it was written: nothing of the row is used. */
export function toHeldMade(canonical: string, pin: string): ToolDefinition {
  const message = `its stored data differs from what was written. Write it again (PUT /v1/tools/${canonical}, or create_tool for a private one), or DELETE it there`;
  const held: Hold = { reason: 'changed', refId: pin, changes: [], findings: [{ finding: 'stored', path: '', message }] };
  return { ...bareDefinition(canonical), source: { state: 'held', trusted: false, pin, held } };
}

function bareDefinition(canonical: string): ToolDefinition {
  return {
    canonical: CanonicalName.parse(canonical),
    server: madeServer,
    name: madeOwnName(canonical),
    kind: 'made',
    description: '',
    inputSchema: { type: 'object' },
    aliases: [],
  };
}

/** Parameters with a default are optional. */
export function parametersSchema(parameters: readonly MadeParameter[]): JsonSchema {
  const required = parameters.filter((parameter) => parameter.required && parameter.default === undefined).map(({ name }) => name);
  const properties = parameters.map(({ name, type, description, default: given }) => [
    name,
    { type, ...(description !== '' && { description }), ...(given !== undefined && { default: given }) },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}
