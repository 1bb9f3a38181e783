/** What the routes of tools and of the policy for their calls use. */
import type { Principal } from '../../../core/people/principal.ts';
import type { PolicyAnswer } from '../../../core/policy/explain.ts';
import type { ExplainedCall } from '../../../engine/call/direct-call.ts';
import type { ChatDeps } from '../../../engine/chat/run-chat.ts';
import type { Sandbox } from '../../../ports/sandbox.ts';
import type { UsageReader } from '../../../ports/usage.ts';
import type { PastCallServices } from '../../past-calls.ts';
import { type RoomServices, routesUsing } from '../../route.ts';

export interface ToolServices extends RoomServices<'clock'>, Pick<ChatDeps, 'planTurn'>, PastCallServices {
  /** Reads the counts of calls and the request log. */
  usage: UsageReader;
  /** Checks whether code of made tools compiles. */
  sandbox: Pick<Sandbox, 'check'>;
  /** Evaluates the policy for a call without making it. */
  explainCall(principal: Principal, call: ExplainedCall): Promise<PolicyAnswer>;
}

export const { defineRoute } = routesUsing<ToolServices>();
