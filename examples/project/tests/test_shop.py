import unittest

from shop import prices
from shop.cart import Cart


class Prices(unittest.TestCase):
    def test_a_price_may_have_one_digit_behind_the_point(self):
        self.assertEqual(prices.parse("12.5"), 1250)

    def test_a_price_may_have_two_digits_or_none(self):
        self.assertEqual([prices.parse("12.50"), prices.parse("12")], [1250, 1200])


class Carts(unittest.TestCase):
    def test_ten_pieces_are_bulk(self):
        cart = Cart()
        cart.add("nail", "0.20", 10)
        self.assertEqual(cart.total, 190)

    def test_a_receipt_ends_with_the_total(self):
        cart = Cart()
        cart.add("hammer", "12.50")
        cart.add("nail", "0.20", 9)
        self.assertEqual(cart.receipt().splitlines()[-1], "total: 14.30")


if __name__ == "__main__":
    unittest.main()
