package db

import "math/big"

// Average is what Dialect.Average is in SQL, for a count that is not zero.
func Average(high, low, count int64, scale int) float64 {
	divisor := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	average, _ := new(big.Rat).SetFrac(Sum(high, low), divisor.Mul(divisor, big.NewInt(count))).Float64()
	return average
}

// Sum is a sum of two parts, the higher of which counts 2³² times.
func Sum(high, low int64) *big.Int {
	sum := new(big.Int).Lsh(big.NewInt(high), 32)
	return sum.Add(sum, big.NewInt(low))
}
