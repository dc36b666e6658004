/** For `node --import`: resolves the few k6 modules that the load scripts use to their stand-ins. */
import { register } from 'node:module';

register('./hooks.mjs', import.meta.url);
