/** `tools/list` and `tools/call`: listed tools can be called by any name that resolves, and no others. */
import {
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type ListToolsResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isConfigurationTool } from '../../core/names/reserved-names.ts';
import { contentText, type ToolResult } from '../../core/tools/tool.ts';
import { servedOutputSchema, servedPages } from '../../engine/mcp/serve-list.ts';
import { serveCall, type ServedAnswer, type ServedCaller } from '../../engine/mcp/serve-call.ts';
import { withModeHint, type ServedView } from '../../engine/mcp/serve-view.ts';
import { viewVersion } from '../../engine/mcp/serve-watch.ts';
import type { WithCaller, ServeContext } from './serve-context.ts';
import { givenOf, toInputRequired } from './client-channel.ts';
import { listPageAt } from './list-cursor.ts';

export function registerToolHandlers(server: Server, serving: ServeContext, answering: WithCaller): void {
  server.setRequestHandler(
    'tools/list',
    answering(async ({ params }, { view }) => {
      const { items, ...more } = listPageAt('tools', listStateOf(view), servedPages(view.names), params?.cursor);
      // Schemas are foreign JSON that was checked when it was listed; the SDK's type is the wire shape.
      return { tools: items as unknown as ListToolsResult['tools'], ...more };
    }),
  );
  server.setRequestHandler(
    'tools/call',
    answering(async ({ params }, caller, { mcpReq }) => {
      const call = { name: params.name, arguments: params.arguments ?? {}, ...givenOf(mcpReq) };
      const calling = serveCall(serving.deps, caller, call, mcpReq.signal);
      // A client that disconnects cancels the call: its server is still notified, and the audit row written.
      serving.deps.background(calling.catch(() => undefined));
      const answer = await calling;
      if (serving.era === 'session') await notifyIfEquipmentChanged(serving, caller, answer, mcpReq);
      if (answer.kind === 'input') return toInputRequired(answer);
      return server.projectCallToolResult(
        toCallToolResult(answer, caller.view),
        answer.tool === null ? undefined : servedOutputSchema(answer.tool),
      );
    }),
  );
}

/** A call in a session that has equipped another toolset reports it before its result. */
async function notifyIfEquipmentChanged(
  { deps, target, viewOf }: ServeContext,
  { principal, view }: ServedCaller,
  answer: ServedAnswer,
  { notify }: ServerContext['mcpReq'],
): Promise<void> {
  if (target !== null || answer.kind !== 'result' || answer.tool === null || !isConfigurationTool(answer.tool.canonical)) return;
  try {
    if (viewVersion(await viewOf(principal)) !== viewVersion(view)) await notify({ method: 'notifications/tools/list_changed' });
  } catch (error) {
    // The stream on which the client listens reports it later.
    deps.log.debug('the equipped toolset could not be read', { cause: String(error) });
  }
}

/** Identifies the edition and mode of a list: all pages belong to one. */
export function listStateOf({ pointer, mode }: ServedView): string {
  return `${pointer === null ? '' : pointer.hash.slice(0, 16)} ${mode ?? ''}`;
}

/**
 * An unknown tool name is an error of the request (MCP, tools, error handling: "Unknown tools" are protocol errors, -32602); every other
 * error is a result, which the model reads.
 */
export function toCallToolResult({ answer, tool }: Extract<ServedAnswer, { kind: 'result' }>, view: ServedView): CallToolResult {
  const { requested, canonical, via } = answer;
  const { code, content, issues, meta: foreign, protocolError } = answer.result;
  if (protocolError !== undefined) throw new ProtocolError(protocolError.code, protocolError.message, protocolError.data);
  if (code === 'unknown_tool' || code === 'ambiguous_tool') {
    const text = contentText(content);
    const message = code === 'unknown_tool' ? withModeHint(view, requested, text) : text;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message, { code, requested });
  }
  const { isError, structuredContent } = withForm(answer.result, tool !== null && servedOutputSchema(tool) !== undefined);
  const meta = {
    ...foreign,
    requested,
    canonical,
    via,
    ...(code !== undefined && { code }),
    ...(issues !== undefined && { issues }),
  };
  // Our content blocks are MCP's, but resources have optional `text` and `blob`, where the SDK requires one of them.
  return {
    content: content as CallToolResult['content'],
    isError,
    ...(structuredContent !== undefined && { structuredContent: structuredContent as CallToolResult['structuredContent'] }),
    _meta: meta,
  };
}

/**
 * A result without the structured content that its tool declares (too long, or omitted by the server) is returned as an error: clients
 * discard such a success, but show an error.
 */
function withForm(result: ToolResult, isDeclared: boolean): Pick<ToolResult, 'isError' | 'structuredContent'> {
  const { isError, structuredContent } = result;
  return { isError: isError || (isDeclared && structuredContent === undefined), structuredContent };
}
