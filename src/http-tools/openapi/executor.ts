/** The tools of `openapi` servers: each call is one request, as the OpenAPI document describes it. */
import { once } from '../../core/memoize.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { ServerOperation } from '../../core/tools/server-operation.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import type { ToolExecutor } from '../../ports/tool-executor.ts';
import { createHttpExecutor } from '../executor.ts';

/** Both throw `not_found` if the server or operation was removed. */
export type OpenApiExecutorDeps = {
  server(name: string): Promise<ServerAccess>;
  operation(tool: EditionTool): Promise<ServerOperation>;
};

const loadRequest = once(() => import('./operation-request.ts'));

export function createOpenApiExecutor({ server, operation }: OpenApiExecutorDeps): ToolExecutor {
  const read = (tool: EditionTool) => Promise.all([server(tool.server), operation(tool)]);
  return createHttpExecutor({
    isPlain: true,
    url: async (tool) => (await loadRequest()).requireBaseUrl(...(await read(tool))),
    request: async (tool, args, context) => await (await loadRequest()).toOperationRequest(...(await read(tool)), args, context),
  });
}
