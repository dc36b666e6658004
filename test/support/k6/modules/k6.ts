/** Stand-in for the module `k6`. */
import { addSample } from './metrics.ts';

export function check(value: unknown, sets: Record<string, (value: unknown) => boolean>): boolean {
  return Object.entries(sets)
    .map(([name, agrees]) => {
      const passed = agrees(value);
      addSample({ name: 'checks', type: 'rate', value: passed ? 1 : 0, tags: { check: name } });
      return passed;
    })
    .every(Boolean);
}
