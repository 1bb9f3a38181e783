/** Finds rules that name what is not there: such a rule matches nothing, and what it should deny stays allowed. */
import { isOfferMethod } from '../tools/upstream-method.ts';
import { createSuggester } from '../names/suggest.ts';
import { serverOfOffer } from '../names/offer-pattern.ts';
import type { PolicyRule } from './rule.ts';

type Kind = 'tools' | 'servers' | 'agents' | 'keys' | 'secrets';
/**
 * What rules may name. `tools`: canonical names. `listed`: the servers that have listed tools. `renamed`: for tools that are gone, the one with the
 * same definition.
 */
export type PolicyNames = Readonly<Record<Kind | 'listed', ReadonlySet<string>>> & { renamed: ReadonlyMap<string, string> };

/** `message`: without a full stop. */
export type UnmatchedRule = { index: number; member: 'tool' | 'agent' | 'key' | 'secret' | 'resource' | 'prompt'; message: string };

/** Names of registry changes are left out: a rule may be about what is created later. */
export function unmatchedRules(rules: readonly PolicyRule[], names: PolicyNames): UnmatchedRule[] {
  const near = (kind: Kind) => createSuggester(() => [...names[kind]].map((name) => [name, name] as const));
  const suggest = { tools: near('tools'), servers: near('servers'), agents: near('agents'), keys: near('keys'), secrets: near('secrets') };
  const unknown = (kind: Kind, one: string, name: string): string | null =>
    names[kind].has(name) ? null : `unknown ${one} ${JSON.stringify(name)}${suggest[kind](name)}`;
  const ofServer = (name: string): string | null => unknown('servers', 'server', serverOfOffer(name));
  const ofTool = (tool: string): string | null => {
    const own = tool.slice(tool.indexOf('.') + 1);
    // Tools of a client come with its requests, and a key may have private made tools.
    if (tool.startsWith('client.') || tool.startsWith('made.')) return null;
    const now = names.renamed.get(tool);
    if (now !== undefined) return `the tool ${JSON.stringify(tool)} is called ${JSON.stringify(now)} now`;
    if (own === '*' || isOfferMethod(own)) return ofServer(tool);
    const server = serverOfOffer(tool);
    // A server that has listed nothing yet may list it.
    return names.listed.has(server) || !names.servers.has(server) ? unknown('tools', 'tool', tool) : null;
  };
  return rules.flatMap(({ tool, agent, key, secret, resource, prompt }, index) => {
    const faults = {
      tool: tool === undefined ? null : ofTool(tool),
      agent: agent === undefined ? null : unknown('agents', 'agent', agent),
      // Other ids are those of people and triggers.
      key: key?.startsWith('key_') === true ? unknown('keys', 'key', key) : null,
      secret: secret === undefined ? null : unknown('secrets', 'secret', secret),
      resource: resource === undefined ? null : ofServer(resource),
      prompt: prompt === undefined ? null : ofServer(prompt),
    };
    return Object.entries(faults).flatMap(([member, message]) =>
      message === null ? [] : [{ index, member: member as UnmatchedRule['member'], message }],
    );
  });
}
