/**
 * Every bound of the product under one name, with its unit in the name and its reason beside it. A wait, a buffer or a loop elsewhere
 * names its limit from here; they are written down by subject in `limits/`.
 */
import { outboundLimits } from './limits/outbound.ts';
import { requestLimits } from './limits/requests.ts';
import { sandboxLimits } from './limits/sandbox.ts';
import { serverLimits } from './limits/servers.ts';
import { shellLimits } from './limits/shell.ts';
import { storageLimits } from './limits/storage.ts';
import { toolsetLimits } from './limits/toolsets.ts';
import { triggerLimits } from './limits/triggers.ts';
import { turnLimits } from './limits/turns.ts';

export const limits = {
  ...requestLimits,
  ...toolsetLimits,
  ...serverLimits,
  ...turnLimits,
  ...sandboxLimits,
  ...shellLimits,
  ...outboundLimits,
  ...storageLimits,
  ...triggerLimits,
} as const;
