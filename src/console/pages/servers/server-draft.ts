/** The document of a server in its editor, for the three kinds. Pure. */
import type { components } from '../../../../client/src/index.ts';

type ServerView = components['schemas']['ServerView'];
export type DraftKind = ServerView['kind'];

/** Members of all kinds. The service checks which of them a kind has. */
export type ServerDraft = Partial<
  Omit<ServerView, 'name' | 'tools' | 'health' | 'connection' | 'offers' | 'authorization' | 'warnings'>
> & {
  kind: DraftKind;
  /** The definitions of a static server. */
  tools?: readonly unknown[];
};

export type FieldsProps = { draft: ServerDraft; edit(next: ServerDraft): void };

export const blankServer: ServerDraft = { kind: 'mcp', url: '' };

/** Leaves out what the service adds. */
export function toServerDraft(view: ServerView): ServerDraft {
  const {
    name: _name,
    health: _health,
    connection: _connection,
    offers: _offers,
    authorization: _authorization,
    warnings: _warnings,
    tools,
    ...draft
  } = view;
  return view.kind === 'static' ? { ...draft, tools: tools.map(toDefinition) } : draft;
}

function toDefinition({ name, description, inputSchema, outputSchema, annotations, aliases }: components['schemas']['ServerTool']) {
  return {
    ...{ name, description, inputSchema },
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
    ...(aliases && { aliases }),
  };
}

/** Another kind has other members: what all kinds have is kept. */
export function withKind({ url, headers, trusted, instructions }: ServerDraft, kind: DraftKind): ServerDraft {
  return {
    ...{ kind, url: url ?? '' },
    ...(kind === 'static' && { tools: [exampleDefinition] }),
    ...(headers && { headers }),
    ...(trusted && { trusted }),
    ...(instructions && { instructions }),
  };
}

const exampleDefinition = {
  name: 'get_weather',
  description: 'Weather of a city.',
  annotations: { readOnlyHint: true },
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** Reads a list of definitions, alone or as in an MCP `tools/list` result. Throws an `Error` that says what the text needs. */
export function parseDefinitions(text: string): unknown[] {
  const value: unknown = JSON.parse(text);
  const list = typeof value === 'object' && value !== null && 'tools' in value ? value.tools : value;
  if (!Array.isArray(list)) throw new Error('It must be a list of definitions, such as [{"name": "get_weather", "inputSchema": {…}}].');
  return list;
}

export function rootsText(roots: NonNullable<ServerDraft['roots']>): string {
  return roots === 'client' ? 'those of the calling MCP client' : roots.map(({ uri }) => uri).join(', ') || 'none';
}
