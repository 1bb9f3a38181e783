/**
 * How to connect an MCP client to the toolset: its address, links that editors open, and the command for the others. No link has a key: the
 * client signs the user in.
 */
import { cursorLink, vsCodeLink } from './client-links.ts';
import { visible } from '../../parts/text/visible.ts';

export function ConnectClient({ name }: { name: string }) {
  const url = new URL(`/mcp/${encodeURIComponent(name)}`, location.origin).href;
  return (
    <section aria-label="Connect a client">
      <h2>Connect a client</h2>
      <p>
        The toolset is an MCP server at <code>{url}</code>. Add it to <a href={cursorLink(name, url)}>Cursor</a> or{' '}
        <a href={vsCodeLink(name, url)}>VS Code</a>, which sign you in, or with a key of its own to Claude Code, Claude Desktop, Cursor, VS
        Code, Codex or Zed:
      </p>
      <pre>
        <code>moniker install claude {visible(name)}</code>
      </pre>
    </section>
  );
}
