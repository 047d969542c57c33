;; Looks at a body of JSON, 16 bytes at a time. It lies at 0, with at least 48 zeros behind it; what is made of it lies at
;; $OUT. `npm run wasm` makes src/api/body_wasm.ts of this file.
(module
  (memory (export "memory") 16)
  (global $OUT (export "out") i32 (i32.const 327680))
  (global $MOST_OUT i32 (i32.const 1048500))

  ;; The first place from $at on, by 16, in a row of 16 or more digits, points and slashes; -1 where none is before $end.
  (func (export "longFrom") (param $at i32) (param $end i32) (result i32)
    (local $before i32) (local $bits i32)
    (block $none
      (loop $blocks
        (br_if $none (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $bits (i8x16.bitmask (i8x16.lt_u
          (i8x16.sub (v128.load (local.get $at)) (i8x16.splat (i32.const 46)))
          (i8x16.splat (i32.const 12)))))
        (if (i32.and (local.get $bits) (i32.const 1))
          (then
            ;; How many end the block before, and how many begin this one.
            (if (i32.ge_u
                  (i32.add
                    (i32.clz (i32.xor (i32.shl (local.get $before) (i32.const 16)) (i32.const -1)))
                    (i32.ctz (i32.xor (local.get $bits) (i32.const -1))))
                  (i32.const 16))
              (then (return (local.get $at))))))
        (local.set $before (local.get $bits))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $blocks)))
    (i32.const -1))

  ;; Whether before $end an e of either case stands behind a digit and before three, with a sign between or none.
  (func (export "isFar") (param $end i32) (result i32)
    (local $at i32) (local $chars v128)
    (local $digits i32) (local $signs i32)
    (local $e i32) (local $digitsBefore i32) (local $signsBefore i32) (local $carry i32)
    (local $three i32) (local $sign i32)
    (local.set $end (i32.add (local.get $end) (i32.const 16)))
    (loop $blocks
      (local.set $chars (v128.load (local.get $at)))
      (local.set $digits (i8x16.bitmask (i8x16.lt_u
        (i8x16.sub (local.get $chars) (i8x16.splat (i32.const 48))) (i8x16.splat (i32.const 10)))))
      (local.set $signs (i8x16.bitmask (v128.or
        (i8x16.eq (local.get $chars) (i8x16.splat (i32.const 43)))
        (i8x16.eq (local.get $chars) (i8x16.splat (i32.const 45))))))
      ;; Those of the block before are told now, for what follows them may stand in this one.
      (local.set $e (i32.and (local.get $e)
        (i32.or (i32.shl (local.get $digitsBefore) (i32.const 1)) (local.get $carry))))
      (if (local.get $e)
        (then
          (local.set $three (i32.or (local.get $digitsBefore) (i32.shl (local.get $digits) (i32.const 16))))
          (local.set $three (i32.and (i32.shr_u (local.get $three) (i32.const 1))
            (i32.and (i32.shr_u (local.get $three) (i32.const 2)) (i32.shr_u (local.get $three) (i32.const 3)))))
          (local.set $sign (i32.shr_u
            (i32.or (local.get $signsBefore) (i32.shl (local.get $signs) (i32.const 16))) (i32.const 1)))
          (if (i32.and (local.get $e)
                (i32.or (local.get $three)
                  (i32.and (local.get $sign) (i32.shr_u (local.get $three) (i32.const 1)))))
            (then (return (i32.const 1))))))
      (local.set $carry (i32.shr_u (local.get $digitsBefore) (i32.const 15)))
      (local.set $e (i8x16.bitmask (i8x16.eq
        (v128.or (local.get $chars) (i8x16.splat (i32.const 32))) (i8x16.splat (i32.const 101)))))
      (local.set $digitsBefore (local.get $digits))
      (local.set $signsBefore (local.get $signs))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $blocks (i32.lt_u (local.get $at) (local.get $end))))
    (i32.const 0))

  ;; The six bits of a byte that goes on with a character; 64 and more for any other.
  (func $more (param $at i32) (result i32)
    (i32.xor (i32.load8_u (local.get $at)) (i32.const 128)))

  (func $hex (param $digit i32) (result i32)
    (i32.add (local.get $digit)
      (select (i32.const 48) (i32.const 87) (i32.lt_u (local.get $digit) (i32.const 10)))))

  ;; Writes \uXXXX.
  (func $escape (param $to i32) (param $unit i32)
    (i32.store16 (local.get $to) (i32.const 0x755c))
    (i32.store8 offset=2 (local.get $to) (call $hex (i32.shr_u (local.get $unit) (i32.const 12))))
    (i32.store8 offset=3 (local.get $to)
      (call $hex (i32.and (i32.shr_u (local.get $unit) (i32.const 8)) (i32.const 15))))
    (i32.store8 offset=4 (local.get $to)
      (call $hex (i32.and (i32.shr_u (local.get $unit) (i32.const 4)) (i32.const 15))))
    (i32.store8 offset=5 (local.get $to) (call $hex (i32.and (local.get $unit) (i32.const 15)))))

  ;; Writes the same JSON in Latin-1, other characters as escapes; answers its length. -1 for what isn't UTF-8, has a
  ;; backslash before a character beyond ASCII, or gets too long.
  (func (export "narrow") (param $end i32) (result i32)
    (local $at i32) (local $to i32) (local $chars v128) (local $blockEnd i32)
    (local $byte i32) (local $char i32) (local $a i32) (local $b i32) (local $c i32)
    (local.set $to (global.get $OUT))
    (block $no
      (block $done
        (loop $blocks
          (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
          (br_if $no (i32.gt_u (local.get $to) (global.get $MOST_OUT)))
          (local.set $chars (v128.load (local.get $at)))
          (if (i32.eqz (i8x16.bitmask (local.get $chars)))
            (then
              (v128.store (local.get $to) (local.get $chars))
              (local.set $at (i32.add (local.get $at) (i32.const 16)))
              (local.set $to (i32.add (local.get $to) (i32.const 16)))
              (br $blocks)))
          (local.set $blockEnd (i32.add (local.get $at) (i32.const 16)))
          (loop $bytes
            (local.set $byte (i32.load8_u (local.get $at)))
            (if (i32.lt_u (local.get $byte) (i32.const 128))
              (then
                (i32.store8 (local.get $to) (local.get $byte))
                (local.set $at (i32.add (local.get $at) (i32.const 1)))
                (local.set $to (i32.add (local.get $to) (i32.const 1))))
              (else
                ;; A body begins with no such byte, or it isn't JSON.
                (br_if $no (i32.eqz (local.get $at)))
                (br_if $no (i32.eq (i32.load8_u (i32.sub (local.get $at) (i32.const 1))) (i32.const 92)))
                (local.set $a (call $more (i32.add (local.get $at) (i32.const 1))))
                (br_if $no (i32.gt_u (local.get $a) (i32.const 63)))
                (if (i32.lt_u (local.get $byte) (i32.const 0xe0))
                  (then
                    (br_if $no (i32.lt_u (local.get $byte) (i32.const 0xc2)))
                    (local.set $char (i32.or
                      (i32.shl (i32.and (local.get $byte) (i32.const 31)) (i32.const 6)) (local.get $a)))
                    (local.set $at (i32.add (local.get $at) (i32.const 2)))
                    (if (i32.lt_u (local.get $char) (i32.const 256))
                      (then
                        (i32.store8 (local.get $to) (local.get $char))
                        (local.set $to (i32.add (local.get $to) (i32.const 1))))
                      (else
                        (call $escape (local.get $to) (local.get $char))
                        (local.set $to (i32.add (local.get $to) (i32.const 6))))))
                  (else
                    (local.set $b (call $more (i32.add (local.get $at) (i32.const 2))))
                    (br_if $no (i32.gt_u (local.get $b) (i32.const 63)))
                    (if (i32.lt_u (local.get $byte) (i32.const 0xf0))
                      (then
                        (local.set $char (i32.or
                          (i32.shl (i32.and (local.get $byte) (i32.const 15)) (i32.const 12))
                          (i32.or (i32.shl (local.get $a) (i32.const 6)) (local.get $b))))
                        (br_if $no (i32.lt_u (local.get $char) (i32.const 0x800)))
                        ;; Half a character.
                        (br_if $no (i32.eq (i32.shr_u (local.get $char) (i32.const 11)) (i32.const 27)))
                        (local.set $at (i32.add (local.get $at) (i32.const 3)))
                        (call $escape (local.get $to) (local.get $char))
                        (local.set $to (i32.add (local.get $to) (i32.const 6))))
                      (else
                        (local.set $c (call $more (i32.add (local.get $at) (i32.const 3))))
                        (br_if $no (i32.gt_u (local.get $c) (i32.const 63)))
                        (local.set $char (i32.sub
                          (i32.or
                            (i32.or (i32.shl (i32.and (local.get $byte) (i32.const 15)) (i32.const 18))
                              (i32.shl (local.get $a) (i32.const 12)))
                            (i32.or (i32.shl (local.get $b) (i32.const 6)) (local.get $c)))
                          (i32.const 0x10000)))
                        (br_if $no (i32.gt_u (local.get $char) (i32.const 0xfffff)))
                        (local.set $at (i32.add (local.get $at) (i32.const 4)))
                        (call $escape (local.get $to)
                          (i32.add (i32.const 0xd800) (i32.shr_u (local.get $char) (i32.const 10))))
                        (call $escape (i32.add (local.get $to) (i32.const 6))
                          (i32.add (i32.const 0xdc00) (i32.and (local.get $char) (i32.const 1023))))
                        (local.set $to (i32.add (local.get $to) (i32.const 12)))))))))
            (br_if $bytes (i32.lt_u (local.get $at) (local.get $blockEnd))))
          (br $blocks)))
      ;; What was copied of the zeros behind the body is not counted.
      (return (i32.sub (i32.sub (local.get $to) (global.get $OUT)) (i32.sub (local.get $at) (local.get $end)))))
    (i32.const -1)))
