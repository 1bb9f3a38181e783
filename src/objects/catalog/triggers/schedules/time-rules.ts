/** When schedules run, with the cron parser: loaded when one is written or due. */
import { once } from '../../../../core/memoize.ts';

export const loadTimeRules = once(() => import('../../../../core/triggers/schedules/next-run.ts'));
