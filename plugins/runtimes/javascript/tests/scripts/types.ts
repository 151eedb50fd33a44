import assert from 'node:assert/strict';
import type { Stats } from 'node:fs';
import { describe, Size, type Shape } from './library/shape.js';

enum Color { Red, Green = 'g', Blue = Red + 5 }
const enum Flag { A = 1, B = A << 2 }
namespace Space {
  export const value = 3;
}
abstract class Base<T> {
  static made = 0;
  constructor(protected readonly name: string, public items: T[] = []) {
    Base.made += 1;
  }
  abstract area(): number;
}
class Square extends Base<number> {
  constructor(private side: number) {
    super('square', [1]);
  }
  override area(): number {
    return this.side ** 2;
  }
}
function identity(value: string): string;
function identity(value: unknown): unknown {
  return value;
}
const keyOf = <T extends object,>(value: T): keyof T => Object.keys(value)[0] as keyof T;
const shape = { name: 'box' } as const satisfies Shape;
const size: ((stats: Stats) => number) | undefined = undefined;

assert.deepEqual({ ...Color }, { 0: 'Red', 5: 'Blue', Red: 0, Green: 'g', Blue: 5 });
assert.equal(Flag.B, 4);
assert.equal(Space.value, 3);
assert.equal(new Square(3).area(), 9);
assert.deepEqual(Object.keys(new Square(3)), ['name', 'items', 'side']);
assert.equal(Base.made, 2);
assert.equal(identity('same')!, 'same');
assert.equal(keyOf({ only: 1 }), 'only');
assert.equal(describe(shape, Size.Large), 'Large box');
assert.equal(size, undefined);
assert.equal(require.main, module, 'tsx offers CommonJS to modules, too');
assert.ok(__filename.endsWith('types.ts'));

function fail(reason: string): never {

  throw new Error(reason);
}
const place = (): string => {
  try {
    return fail('here');
  } catch (error) {
    return (error as Error).stack!.split('\n')[1]!;
  }
};
assert.match(place(), /fail.*types\.ts:49:\d+\)$/, 'lines are those of the file');
