/**
 * The tools of a Responses request: what the client declares, loads with items of the history and allows. `item-tools.ts` has those whose calls
 * are items of their own. Wire: OpenAI API reference, "Responses: create", `tools` (SDK 7.57).
 */
import * as z from 'zod';
import type { Dropped } from '../../core/model/dropped.ts';
import { invalidRequest, type Issue } from '../../core/problem.ts';
import { joinParagraphs } from '../../core/text/paragraphs.ts';
import type { ClientTool } from '../../core/turn/plan.ts';
import { type ClientOfferedTool, isRefused, offerClientTools, parseClientTool, withoutOptional } from '../client-tools.ts';
import type { Field } from '../fields.ts';
import { takeWebSearch } from '../web-search.ts';
import { responsesTool } from './fields.ts';
import type { InputItem } from './input.ts';
import { isRunByProvider, qualifiedName, toFunction, toolsInItems } from './item-tools.ts';

export const ResponsesTool = z.looseObject({
  type: z.string(),
  name: z.string().optional(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
  format: z.looseObject({ type: z.string().optional(), syntax: z.string().optional(), definition: z.string().optional() }).nullish(),
  tools: z.array(z.looseObject({ type: z.string(), name: z.string().optional() })).nullish(),
});
export type ResponsesTool = z.infer<typeof ResponsesTool>;

export const ResponsesToolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.looseObject({
    type: z.string(),
    name: z.string().optional(),
    mode: z.enum(['auto', 'required']).optional(),
    tools: z.array(z.looseObject({ type: z.string().optional(), name: z.string().optional() })).optional(),
  }),
]);
type ToolsOfRequest = {
  input: string | readonly InputItem[];
  tools?: readonly ResponsesTool[] | null;
  tool_choice?: z.infer<typeof ResponsesToolChoice> | null;
};

/** `own`: the client's name of a namespaced tool. `isItem`: its calls are items of their own (`item-tools.ts`). */
export type OfferedResponsesTool = ClientOfferedTool<ResponsesTool> & { own?: { namespace: string; name: string }; isItem?: true };

/**
 * All tools, or those that `allowed_tools` names. Of tools that items of the history have loaded, those that the request has not. Tools that
 * only a provider runs are dropped next to the client's own tools if the work can be done without them, because agents send them to all
 * providers.
 */
export function offeredResponsesTools({ tools, input, tool_choice: choice }: ToolsOfRequest, dropped: Dropped) {
  const given = offerClientTools(tools).flatMap(withInner).map(asFunction);
  const names = new Set(given.map(({ tool }) => tool.name));
  const loaded = [...toolsInItems(typeof input === 'string' ? [] : input)].flatMap(({ tool, path }) => {
    const parsed = ResponsesTool.safeParse(tool);
    if (!parsed.success) throw invalidRequest([{ path, message: 'must be a tool' }]);
    return withInner({ tool: parsed.data, path }).map(asFunction);
  });
  const isNew = ({ tool: { name } }: OfferedResponsesTool): boolean =>
    name === undefined || (!names.has(name) && names.add(name) !== undefined);
  const allowed = allowedTools({ tool_choice: choice });
  const isFree = choice == null || choice === 'auto' || choice === 'none';
  const every = takeWebSearch([...given, ...loaded.filter(isNew)], kindOf, { members: searchMembers, isFree });
  if (allowed === null) return { ...every, tools: withoutOptional(every.tools, kindOf, dropped) };
  return { tools: every.tools.filter(({ tool }) => allowed.some(({ name }) => name === tool.name)), webSearch: null };
}

const searchMembers = {
  allowedDomains: 'filters.allowed_domains',
  offline: 'external_web_access',
  location: 'user_location',
  contextSize: 'search_context_size',
};

function kindOf(tool: ResponsesTool): Field | undefined {
  return responsesTool(isRunByProvider(tool) ? `${tool.type} by the provider` : tool.type);
}

/** Provider tools have no names and are skipped. */
export function allowedTools({ tool_choice: choice }: Pick<ToolsOfRequest, 'tool_choice'>): { name: string; path: string }[] | null {
  if (choice == null || typeof choice === 'string' || choice.type !== 'allowed_tools') return null;
  return (choice.tools ?? []).flatMap(({ type = '', name = toFunction({ type })?.name }, index) =>
    name === undefined ? [] : [{ name, path: `tool_choice.tools[${index}].name` }],
  );
}

/** The client's tools whose calls are items of their own are functions for the model. */
function asFunction(offer: OfferedResponsesTool): OfferedResponsesTool {
  const tool = toFunction(offer.tool);
  return tool === null ? offer : { ...offer, tool, isItem: true };
}

/** Guide "Function calling", namespaces: their tools are called by both names. */
function withInner({ tool, path }: OfferedResponsesTool): OfferedResponsesTool[] {
  const { type, name: namespace = '', tools: inner } = tool;
  if (type !== 'namespace' || inner == null) return [{ tool, path }];
  return inner.map((one, index) => {
    const { name } = one;
    if (name === undefined) return { tool: one as ResponsesTool, path: `${path}.tools[${index}]` }; // Reported as a tool without a name.
    return {
      tool: { ...one, name: qualifiedName(namespace, name) } as ResponsesTool, // The other fields are validated like those of any tool.
      path: `${path}.tools[${index}]`,
      own: { namespace, name },
    };
  });
}

/** null for a provider's tool, and for an invalid name. */
export function parseResponsesTool({ tool, path }: OfferedResponsesTool, issues: Issue[]): ClientTool | null {
  if (isRefused(kindOf(tool), { tool, path }, issues)) return null;
  const { name, description, parameters, strict } = tool;
  const given =
    tool.type === 'custom'
      ? { name, description: customDescription(tool), inputSchema: freeText }
      : { name, description, inputSchema: parameters, strict };
  return parseClientTool(given, { path, schemaField: 'parameters', issues });
}

/** Free text for models that only support functions; the answer shows it as a custom call. */
const freeText = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The complete input of the tool, as free text.' } },
  required: ['input'],
  additionalProperties: false,
};

function customDescription({ description, format }: ResponsesTool): string {
  const grammar =
    format?.type === 'grammar' && format.definition !== undefined
      ? `The input must follow this ${format.syntax ?? ''} grammar:\n${format.definition}`
      : '';
  return joinParagraphs(description, grammar);
}
