/**
 * All limits of the product. Each name includes the unit, and each value has a comment with the reason. The values are defined by
 * subject in `limits/`.
 */
import { requestLimits } from './limits/requests.ts';
import { sandboxLimits } from './limits/sandbox.ts';
import { serverLimits } from './limits/servers.ts';
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
  ...storageLimits,
  ...triggerLimits,
} as const;
