/** Settings of Amp: `amp.mcpServers`, the permissions of these servers, and the tools that are switched off. Amp, "Owner's manual". */
import { stringOf } from '../../json/wire-value.ts';
import { matchesPieces } from '../../text/match-stars.ts';
import type { ImportDraft } from '../draft.ts';
import { addClient } from '../mcp-clients.ts';
import { maxRules, ToolRules, tooManyRules } from '../mcp-permissions.ts';
import type { Members } from '../members.ts';

export function readAmp(draft: ImportDraft, file: Members): void {
  const rows = file.entries('amp.mcpServers');
  const rules = new ToolRules();
  rules.addList(file, 'amp.tools.disable', 'deny');
  for (const item of file.items('amp.permissions')) {
    const [action, isConditional] = [item.text('action')?.toLowerCase() ?? '', item.has('matches')];
    const effect = action === 'ask' || action === 'delegate' ? 'ask' : action === 'allow' ? 'allow' : 'deny';
    if (isConditional && effect === 'allow') item.skipWhole('has no counterpart: write a rule of the policy');
    else {
      if (isConditional)
        item.change('matches', 'is not compared: the rule is for all calls of the tool. Write a rule of the policy instead');
      if (action === 'delegate') item.change('action', 'is a program that decides: here, each call needs approval');
      else if (!/^(ask|allow|reject)$/.test(action)) item.change('action', 'is not known to this import, and counts as "reject"');
      item.ignore('matches', 'to');
      rules.add({ pattern: item.text('tool') ?? '', effect, say: (reason) => item.fault('', reason) });
    }
  }
  const permissions = readServerPermissions(file);
  const entries = new Map(rows);
  const filters = rules.filtersFor([...entries.keys()]);
  const given = (written: string) => {
    const entry = entries.get(written);
    const decided = permissions.find(({ matches }) => entry !== undefined && matches(entry));
    return {
      filter: filters.get(written) ?? {},
      off: decided?.isRejected === true ? `is rejected by ${decided.path} of the file` : null,
    };
  };
  addClient(draft, file, { toolset: 'amp', rows, given });
}

type ServerPermission = { path: string; isRejected: boolean; matches(entry: Members): boolean };

/** `amp.mcpPermissions`: the first rule that matches a server decides whether it may be used. */
function readServerPermissions(file: Members): ServerPermission[] {
  const items = file.items('amp.mcpPermissions');
  if (items.length > maxRules) throw tooManyRules();
  return items.map((item) => {
    const isRejected = item.text('action') !== 'allow';
    const patterns = item.record('matches')?.values() ?? [];
    const matches = (entry: Members): boolean =>
      patterns.every(({ name, text: pattern }) => {
        const given = entry.peek(name);
        return matchesPieces(
          pattern.split('*'),
          (Array.isArray(given) ? given.map(stringOf).join(' ') : stringOf(given)).slice(0, maxMatched),
        );
      });
    return { path: item.path, isRejected, matches };
  });
}

const maxMatched = 4_000;
