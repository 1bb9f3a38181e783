/**
 * Links that add an MCP server to an editor. Cursor: https://cursor.com/docs/mcp/install-links. VS Code:
 * https://code.visualstudio.com/api/extension-guides/ai/mcp#create-an-mcp-installation-url.
 */

/** The configuration is an entry of `mcp.json`, in Base64. */
export function cursorLink(name: string, url: string): string {
  const query = new URLSearchParams({ name, config: btoa(JSON.stringify({ url })) });
  return `cursor://anysphere.cursor-deeplink/mcp/install?${query}`;
}

/** The configuration is an entry of `mcp.json` with its name, as JSON. */
export function vsCodeLink(name: string, url: string): string {
  return `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name, type: 'http', url }))}`;
}
