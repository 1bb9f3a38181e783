/** `tools/list` and `tools/call`: listed tools can be called by any name that resolves, and no others. */
import { isRecord } from '../../core/json/wire-value.ts';
import { memoizeByObject } from '../../core/memoize.ts';
import { isConfigurationTool } from '../../core/names/reserved-names.ts';
import { withOwnMeta } from '../../core/tools/mcp-input.ts';
import { contentText, type JsonSchema } from '../../core/tools/tool.ts';
import { serveCall, type ServedAnswer, type ServedCaller } from '../../engine/mcp/serve-call.ts';
import { type ListedTool, servedOutputSchema, servedPages } from '../../engine/mcp/serve-list.ts';
import { type ServedView, withModeHint } from '../../engine/mcp/serve-view.ts';
import { viewVersion } from '../../engine/mcp/serve-watch.ts';
import { toInputRequired, UnansweredFault, withAnswers } from './answers.ts';
import { servedCallerOf, type Exchange, type ServedEra } from './exchange.ts';
import { listPageAt } from './list-cursor.ts';
import type { RpcParams } from './messages.ts';
import { isObjectSchema, wrapSchema } from './object-schema.ts';
import { invalidParams, RpcFault } from './rpc-fault.ts';

/** `more`: the other members of the result. */
export function toolListPage(
  view: ServedView,
  { era, withApps }: { era: ServedEra; withApps: boolean },
  { cursor }: RpcParams,
): { tools: string; more: { nextCursor?: string } } {
  if (cursor !== undefined && typeof cursor !== 'string') throw invalidParams('Invalid params of tools/list: `cursor` must be a string.');
  const { items, ...more } = listPageAt('tools', listStateOf(view, withApps), servedPages(view.names, withApps), cursor);
  return { tools: era === 'modern' ? modernText(items) : sessionText(items), more };
}

/** JSON of a page. This revision has no `execution`. */
const modernText = memoizeByObject((page: readonly ListedTool[]): string =>
  JSON.stringify(page.map(({ execution: _none, ...tool }) => tool)),
);

/** JSON of a page. In these revisions results are objects. */
const sessionText = memoizeByObject((page: readonly ListedTool[]): string =>
  JSON.stringify(
    page.map((tool) => (isWrapped(tool.outputSchema) ? { ...tool, outputSchema: wrapSchema(tool.outputSchema as JsonSchema) } : tool)),
  ),
);

function isWrapped(schema: JsonSchema | undefined): boolean {
  return schema !== undefined && !isObjectSchema(schema);
}

/** Identifies the edition, mode and reader of a list: all pages belong to one. */
function listStateOf({ pointer, mode }: ServedView, withApps: boolean): string {
  return `${pointer === null ? '' : pointer.hash.slice(0, 16)} ${mode ?? ''}${withApps ? ' apps' : ''}`;
}

export async function answerToolCall(exchange: Exchange, params: RpcParams): Promise<Record<string, unknown>> {
  const { name, arguments: args = {} } = params;
  if (typeof name !== 'string' || !isRecord(args)) {
    throw invalidParams('Invalid params of tools/call: `name` must be a string and `arguments` an object.');
  }
  const { deps, signal } = exchange;
  const caller = await servedCallerOf(exchange, params);
  try {
    const answer = await withAnswers(exchange, params, (given) => {
      const calling = serveCall(deps, caller, { name, arguments: args, ...given }, signal);
      // A client that disconnects cancels the call: its server is still notified, and the audit row written.
      deps.background(calling.catch(() => undefined));
      return calling;
    });
    if (answer.kind === 'input') return toInputRequired(answer);
    if (exchange.era === 'session') await notifyIfEquipmentChanged(exchange, caller, answer);
    return toCallToolResult(answer, caller.view, exchange.era);
  } catch (error) {
    // The model reads why.
    if (!(error instanceof UnansweredFault)) throw error;
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}

/** A call in a session that has equipped another toolset reports it before its result. */
async function notifyIfEquipmentChanged(exchange: Exchange, { view }: ServedCaller, answer: ServedAnswer): Promise<void> {
  const { deps, target, viewOf, notify } = exchange;
  if (target !== null || answer.kind !== 'result' || answer.tool === null || !isConfigurationTool(answer.tool.canonical)) return;
  try {
    if (viewVersion(await viewOf()) !== viewVersion(view)) notify('notifications/tools/list_changed');
  } catch (error) {
    // The stream on which the client listens reports it later.
    deps.log.debug('the equipped toolset could not be read', { cause: String(error) });
  }
}

/**
 * An unknown tool name is an error of the request (MCP, tools, error handling: "Unknown tools" are protocol errors, -32602); every other
 * error is a result, which the model reads.
 */
function toCallToolResult(
  { answer, tool }: Extract<ServedAnswer, { kind: 'result' }>,
  view: ServedView,
  era: ServedEra,
): Record<string, unknown> {
  const { requested, canonical, via, result } = answer;
  const { code, content, issues, repaired, meta = {}, protocolError } = result;
  if (protocolError !== undefined) throw new RpcFault(protocolError.code, protocolError.message, protocolError.data);
  if (code === 'unknown_tool' || code === 'ambiguous_tool') {
    const text = contentText(content);
    throw invalidParams(code === 'unknown_tool' ? withModeHint(view, requested, text) : text, { code, requested });
  }
  const declared = tool === null ? undefined : servedOutputSchema(tool);
  const structured: unknown = result.structuredContent;
  const more = {
    ...(code !== undefined && { code }),
    ...(issues !== undefined && { issues }),
    ...(repaired !== undefined && { repaired }),
  };
  // A result without the structured content that its tool declares (too long, or omitted by the server) is returned as an error: clients
  // discard such a success, but show an error.
  const isError = result.isError || (declared !== undefined && structured === undefined);
  const isBare = structured !== undefined && !isRecord(structured);
  // In the 2025 revisions structured content is an object; clients that do not know it read the text.
  const wrapped = era !== 'modern' && (isBare || (structured !== undefined && isWrapped(declared)));
  const text = isBare && !content.some(({ type }) => type === 'text') ? [{ type: 'text', text: JSON.stringify(structured) }] : [];
  return {
    content: [...content, ...text],
    isError,
    ...(structured !== undefined && { structuredContent: wrapped ? { result: structured } : structured }),
    _meta: withOwnMeta(meta, { requested, canonical, via, ...more }),
  };
}
