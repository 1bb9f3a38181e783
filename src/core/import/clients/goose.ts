/** `config.yaml` of Goose: `extensions`, of which those over stdio and HTTP are MCP servers. Goose documentation, "Configuration files". */
import { isRecord, recordOf, stringOf } from '../../json/wire-value.ts';
import type { ImportDraft } from '../draft.ts';
import { addServers, addToolset, otherSettings } from '../mcp-clients.ts';
import type { Members } from '../members.ts';
import { createVariables } from '../variables.ts';

const own = /^(builtin|platform|frontend|inline_python)$/;

export function isGoose(value: unknown): boolean {
  const { extensions } = recordOf(value);
  return (
    isRecord(extensions) &&
    Object.values(extensions).some((one) => /^(stdio|sse|streamable_http|builtin|platform)$/.test(stringOf(recordOf(one).type)))
  );
}

export function readGoose(draft: ImportDraft, file: Members): void {
  const rows = file.entries('extensions').filter(([, entry]) => {
    const isOwn = own.test(stringOf(entry.peek('type')));
    if (isOwn) entry.skipWhole('is a part of Goose itself, not an MCP server with a command or url');
    return !isOwn;
  });
  addToolset(
    draft,
    'goose',
    addServers(draft, rows, { variables: createVariables(), given: () => ({ isInSeconds: true, isEmptyListAll: true }) }),
  );
  file.skipOthers(otherSettings);
}
