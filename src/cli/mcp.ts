/** `moniker mcp <toolset>`. */
import type { Command } from 'commander';
import { addConnectionOptions, type ConnectionOptions } from './connection.ts';

export function addMcpCommand(program: Command): void {
  addConnectionOptions(
    program
      .command('mcp')
      .description('serve a toolset as an MCP server on standard input and output, for clients that start a command')
      .argument('<toolset>', 'toolset of the running service')
      .addHelpText(
        'after',
        '\nExample, in the mcp.json of a client:\n  {"mcpServers": {"work": {"command": "moniker", "args": ["mcp", "work"]}}}',
      ),
  ).action(async (toolset: string, options: ConnectionOptions) => {
    // Loaded by this command only: the MCP SDK is large.
    const { serveOverStdio } = await import('./mcp-bridge.ts');
    await serveOverStdio(toolset, options);
  });
}
