/**
 * A tree of texts by their characters, in arrays of numbers. A node is a number, 0 the root; its
 * children are found by a hash of node and character, so that a step takes a few nanoseconds.
 */
export class PrefixTree {
  #parents: Int32Array = new Int32Array(64);
  #codes: Uint16Array = new Uint16Array(64);
  #marks: Uint8Array = new Uint8Array(64);
  /** Open addressing; 0 is an empty slot, since the root is nobody's child. */
  #slots: Int32Array = new Int32Array(128);
  #count = 1;

  /** The node a character leads to; 0 where none does. */
  child(node: number, code: number): number {
    return this.#slots[this.#slotOf(node, code)] as number;
  }

  /** Whether the node was marked. */
  isEnd(node: number): boolean {
    return this.#marks[node] === 1;
  }

  markEnd(node: number): void {
    this.#marks[node] = 1;
  }

  /** The node that part of a text leads to; 0 where it leaves the tree. */
  nodeOf(text: string, from: number, to: number): number {
    let node = 0;
    for (let i = from; i < Math.min(to, text.length); i++) {
      node = this.child(node, text.charCodeAt(i));
      if (node === 0) return 0;
    }
    return node;
  }

  /** The node of the first characters of a text, which is there from now on. */
  add(text: string, length: number): number {
    let node = 0;
    for (let i = 0; i < Math.min(length, text.length); i++) {
      const code = text.charCodeAt(i);
      node = this.child(node, code) || this.#addChild(node, code);
    }
    return node;
  }

  #addChild(parent: number, code: number): number {
    if (this.#count === this.#parents.length) this.#grow();
    const node = this.#count++;
    this.#parents[node] = parent;
    this.#codes[node] = code;
    this.#slots[this.#slotOf(parent, code)] = node;
    return node;
  }

  #slotOf(node: number, code: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const hash = Math.imul(node ^ (code << 16), 0x9e3779b1);
    let slot = (hash ^ (hash >>> 15)) & mask;
    let child = slots[slot] as number;
    while (child !== 0 && (this.#parents[child] !== node || this.#codes[child] !== code)) {
      slot = (slot + 1) & mask;
      child = slots[slot] as number;
    }
    return slot;
  }

  #grow(): void {
    const [parents, codes, marks] = [this.#parents, this.#codes, this.#marks];
    this.#parents = new Int32Array(parents.length * 2);
    this.#parents.set(parents);
    this.#codes = new Uint16Array(codes.length * 2);
    this.#codes.set(codes);
    this.#marks = new Uint8Array(marks.length * 2);
    this.#marks.set(marks);
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let node = 1; node < this.#count; node++) {
      this.#slots[this.#slotOf(parents[node] as number, codes[node] as number)] = node;
    }
  }
}
