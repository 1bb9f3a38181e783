/**
 * The message that definitions of a server are held, for subscriptions: which, why, and what accepting them would have done to past calls. It
 * is stored with the listing, before the impact is known; the Catalog adds that before the first attempt, so all attempts send the same body.
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
type Message = { type: 'definition.held'; timestamp: string; data: { server: string; tools: HeldTool[]; more: number } };

const maxNamed = 20;
/** Tools of one message whose impact is computed: each reads the audit and the logs of sessions. */
const maxCompared = 5;

export function heldBody(server: string, tools: readonly HeldTool[], at: number): string {
  const data = { server, tools: tools.slice(0, maxNamed), more: Math.max(0, tools.length - maxNamed) };
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
