/** When schedules run, with the cron parser: loaded when one is written or due. */
import { lazyModule } from '../../../core/lazy-module.ts';

export const loadTimeRules = lazyModule(() => import('../../../core/triggers/schedules/next-run.ts'));
