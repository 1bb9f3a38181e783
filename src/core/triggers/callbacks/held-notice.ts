/**
 * The message that definitions of a server are held, for subscriptions: which, why, and what accepting them would have done to past calls of
 * tools. It is stored with the listing, before the impact is known; the Catalog adds that before the first attempt, so all attempts send the
 * same body. Prompts and resources have no impact, and the message says so.
 */

/** Of the calls of the last days. `refusedCalls`: those of `judged` that the held definition refuses. The API names them. */
export type HeldImpact = {
  days: number;
  judged: number;
  refusedCalls: number;
  /** Aliases of arguments that keep calls; at most ten. */
  mends: { toolset: string | null; argument: string; alias: string }[];
  /** Calls that could not be judged: only hashes of their arguments are stored, or they are of too many toolsets. */
  unjudged: number;
  /** Turns whose calls were not read, and whether there are older ones. */
  turns: { left: number; more: boolean };
};

/** `impact` null: it was not computed; absent: not yet. */
export type HeldTool = { name: string; canonical: string; reason: string; refId: string; findings: string[]; impact?: HeldImpact | null };
/** A prompt, a resource or a template. `impact`: only calls of tools are compared. */
export type HeldOffer = {
  kind: 'prompt' | 'resource' | 'template';
  name: string;
  reason: string;
  refId: string;
  findings: string[];
  impact: null;
};
type Held = { server: string; tools: HeldTool[]; offers: HeldOffer[]; more: number };
type Message = { type: 'definition.held'; timestamp: string; data: Held };

const maxNamed = 20;
/** Tools of one message whose impact is computed: each reads the audit and the logs of sessions. */
const maxCompared = 5;

export function heldBody(server: string, tools: readonly HeldTool[], offers: readonly HeldOffer[], at: number): string {
  const named = { tools: tools.slice(0, maxNamed), offers: offers.slice(0, maxNamed) };
  const data = { server, ...named, more: tools.length + offers.length - named.tools.length - named.offers.length };
  return JSON.stringify({ type: 'definition.held', timestamp: new Date(at).toISOString(), data } satisfies Message);
}

/** Returns the body with the impact of its first tools; null where `impactOf` returns it, and for the others. */
export async function withHeldImpact(
  body: string,
  impactOf: (server: string, tool: HeldTool, timestamp: string) => Promise<HeldImpact | null>,
): Promise<string> {
  // Written above.
  const { data, ...message } = JSON.parse(body) as Message;
  const tools: HeldTool[] = [];
  for (const [index, tool] of data.tools.entries()) {
    const impact = index < maxCompared ? await impactOf(data.server, tool, message.timestamp) : null;
    tools.push(tool.impact === undefined ? { ...tool, impact } : tool);
  }
  return JSON.stringify({ ...message, data: { ...data, tools } });
}
