;; Looks at a body of JSON, 16 bytes at a time. It lies at 0, with at least 48 zeros behind it. `npm run generate` makes
;; src/source/body_wasm.ts of this file.
(module
  (memory (export "memory") 5)

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
    (i32.const 0)))
