/**
 * All limits of the product. Each name includes the unit, and each value has a comment with the reason. The values are defined by
 * subject in `limits/`.
 */
import { requestLimits } from './requests.ts';
import { sandboxLimits } from './sandbox.ts';
import { serverLimits } from './servers.ts';
import { storageLimits } from './storage.ts';
import { toolsetLimits } from './toolsets.ts';
import { triggerLimits } from './triggers.ts';
import { turnLimits } from './turns.ts';

export const limits = {
  ...requestLimits,
  ...toolsetLimits,
  ...serverLimits,
  ...turnLimits,
  ...sandboxLimits,
  ...storageLimits,
  ...triggerLimits,
} as const;
